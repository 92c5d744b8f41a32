// SPDX-License-Identifier: Apache-2.0

// Package provider is what every provider of clusters does (docs/spec/cluster-request.md 4.4 and 4.6). A provider is a process of its
// own, with a ServiceAccount of its own. It makes a real cluster of each Cluster whose spec.clusterProviderRef names its ClusterProvider, and
// does nothing to the Clusters of others. Package null is an example of a Provider.
//
// Setup adds two controllers to a manager. One keeps the finalizer of the provider on each Cluster, its phase, the condition ClusterHealthy,
// the endpoints and a Lease that proves that the provider lives, in the namespace that spec.leaseNamespace of the ClusterProvider names. The
// other one publishes the profiles and the readiness of the provider in the status of its ClusterProvider. Both write by server-side apply,
// and only fields that belong to the provider.
//
// Promises: the finalizer is written before the Provider is asked to do anything, and the Lease before the first ClusterHealthy=True. A real
// cluster is torn down only when the Cluster is being deleted and no other finalizer is left, as a read from the API server shows. Nothing
// but a Lease that is due is written where nothing has changed.
package provider
