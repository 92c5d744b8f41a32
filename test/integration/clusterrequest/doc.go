// SPDX-License-Identifier: Apache-2.0

// Package clusterrequest tests the controller of ClusterRequests on a real API server: what requests are granted, that nothing of it is lost
// when records are removed, requests leave at once, or the hub is killed between any two writes, and what admission refuses.
package clusterrequest
