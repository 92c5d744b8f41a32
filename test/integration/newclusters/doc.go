// SPDX-License-Identifier: Apache-2.0

// Package newclusters holds the specs of clusters and sets between a change and the write by which a controller of the hub follows it, in one
// hub that runs these controllers beside placement.
package newclusters
