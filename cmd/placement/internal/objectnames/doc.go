// SPDX-License-Identifier: Apache-2.0

// Package objectnames reads the names of objects on the command line, of Placements, workloads, delivered objects and ClusterRequests, as kubectl
// does, and finds the objects in the source of a command. An error says what to write, and suggests similar names.
package objectnames
