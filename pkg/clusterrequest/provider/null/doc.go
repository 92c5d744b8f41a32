// SPDX-License-Identifier: Apache-2.0

// Package null is a provider of clusters that do not exist: it marks every Cluster healthy and starts nothing, for tests of many Clusters. It
// gives no access, and touches no AccessRequest.
//
// It is an example for authors of providers, with docs/cluster-providers.md: all that a provider has to write itself is in provider.go.
package null
