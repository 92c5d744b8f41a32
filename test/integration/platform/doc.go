// SPDX-License-Identifier: Apache-2.0

// Package platform tests all systems in one hub on a real API server, from a request for a cluster to the objects that are delivered there
// (docs/spec/cluster-request.md X1 to X6): that a hub that is killed at any write keeps what it had decided and completes the rest (X6), and that
// users without the rights reach no cluster (X5). test/e2e follows one cluster to its own API server with the built binary (X1 to X3);
// test/integration/affinityclass has X4.
package platform
