// SPDX-License-Identifier: Apache-2.0

// Package workagent runs the work agent of Open Cluster Management for member clusters of a local hub: for `placement run` and for tests.
//
// The agent applies the ManifestWorks of one ManagedCluster to the API server of the member, reports on them, and deletes what they applied.
// It is OCM's own code, which test/ocm pins and builds; FindOCM of package binaries finds the binary.
//
// GrantHub gives the agents of a ManagedCluster on the hub the rights that a registered agent has there: those of its own namespace. PrepareMember
// installs in the member what the klusterlet operator of OCM installs for a work agent. Start then starts the agent as HubUser and MemberUser.
//
// An agent does not outlive its parent, as the programs of package localplane do not.
package workagent
