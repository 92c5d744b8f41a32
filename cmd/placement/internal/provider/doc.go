// SPDX-License-Identifier: Apache-2.0

// Package provider runs the providers of clusters that are built in, null and loopback, for the commands of that name: the controllers of
// package provider and those of AccessRequests in one manager, until the context ends.
package provider
