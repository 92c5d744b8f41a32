// SPDX-License-Identifier: Apache-2.0

// Package hubs runs the sample of a hub of hubs: three hubs, each on an API server of its own, and two real work agents between them.
package hubs
