// SPDX-License-Identifier: Apache-2.0

// Package clusteradm holds the specs of the requests that the command clusteradm sends, with the rights of its users.
package clusteradm
