// SPDX-License-Identifier: Apache-2.0

// Package scale holds the specs of many clusters and placements: the results of the plain engine, and no write more than necessary.
package scale
