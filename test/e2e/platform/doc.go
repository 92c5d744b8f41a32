// SPDX-License-Identifier: Apache-2.0

// Package platform has the end-to-end tests of the providers of clusters, of a cluster from its request to a delivered object,
// and of the sample of `placement run` that has both.
package platform
