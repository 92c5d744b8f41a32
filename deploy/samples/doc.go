// SPDX-License-Identifier: Apache-2.0

// Package samples is a small world for newcomers: twenty clusters in three sets and five regions, with labels, claims, taints,
// capacities and add-on scores; two teams' namespaces, bound to some of the sets, and a third that RBAC binds; six placements that show, one each,
// decision groups, predicates over labels and claims, an unsatisfied request, CEL, ranking with a toleration, and a mistake. Three more,
// of the API placement.open-cluster-management.io/v1alpha1, show anti-affinity by label and by claim, and clusters by name; one is the
// third team's.
// The comment above each placement says what it selects, in a last line "# Expected: <names>".
//
// The files are numbered so that their lexical order is the order to apply them in. Clusters and scores carry a status, which
// the API server takes only through the status subresource: manifests.Apply does that, and so do these two commands.
//
//	kubectl apply --server-side -f deploy/samples
//	kubectl apply --server-side --subresource=status \
//	  $(printf -- '-f %s ' deploy/samples/2*.yaml deploy/samples/3*.yaml)
//
// The directory pods is a sample of its own, for the systems podscheduling and affinityclass: six Nodes without kubelets, three classes, a
// tenant, two policies, two applications, and the workloads that their charts render. A hub resolves the classes of the applications before
// the workloads are applied, and refuses the objects of the last file.
//
// The directory federation is a sample for the system federation: three member clusters in a set, a namespace that takes part, and six objects
// that choose their clusters by annotations, one of them invalid. The objects are delivered if the members are API servers with work agents.
//
// The directory clusters is a sample for the system clusterrequest: two providers of clusters and three purposes, four requests, of which two
// share a Cluster and one is denied, and a Placement and a request for access of a team that got a cluster.
//
// The directory hubs is a sample of three hubs: a hub of hubs, whose clusters are two hubs, and two Placements that it delivers to them. Its first
// and last file are for the hub of hubs, 20-hub.yaml for both other hubs, and 30-clusters-eu.yaml and 31-clusters-us.yaml for one of them each.
package samples
