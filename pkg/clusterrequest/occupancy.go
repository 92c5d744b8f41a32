// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// RequestUIDs returns the UIDs of the requests that have a finalizer on a Cluster, in the order of the finalizers.
func RequestUIDs(cluster *openmcpv1alpha1.Cluster) []types.UID {
	var uids []types.UID
	for _, finalizer := range cluster.Finalizers {
		if uid, found := strings.CutPrefix(finalizer, openmcpv1alpha1.RequestFinalizerPrefix); found {
			uids = append(uids, types.UID(uid))
		}
	}
	return uids
}

// HasRequest reports whether a Cluster has the finalizer of a request.
func HasRequest(cluster *openmcpv1alpha1.Cluster, request types.UID) bool {
	return slices.Contains(cluster.Finalizers, finalizerOf(request))
}

// Prefix returns the prefix of a request on a Cluster; "" on an exclusive Cluster.
func Prefix(cluster *openmcpv1alpha1.Cluster, request types.UID) string {
	if cluster.Spec.Tenancy != openmcpv1alpha1.TenancyShared {
		return ""
	}
	return prefixes(cluster)[request]
}

// Leave returns the Cluster without the finalizers and the prefixes of requests.
func Leave(cluster *openmcpv1alpha1.Cluster, requests ...types.UID) *openmcpv1alpha1.Cluster {
	left := cluster.DeepCopy()
	entries := prefixes(left)
	known := len(entries)
	for _, request := range requests {
		left.Finalizers = slices.DeleteFunc(left.Finalizers, func(f string) bool { return f == finalizerOf(request) })
		delete(entries, request)
	}
	if len(entries) < known {
		setPrefixes(left, entries)
	}
	return left
}

// join returns the Cluster with the finalizer and, if it is shared, the prefix of a request. A Cluster that has both is returned as it is.
func join(cluster *openmcpv1alpha1.Cluster, request types.UID, proposal string) *openmcpv1alpha1.Cluster {
	return joinKnowing(cluster, prefixes(cluster), nil, request, proposal)
}

// joinKnowing is join for a Cluster whose annotation has the known prefixes. Its Grants put lost prefixes back first, so that none is given
// out twice.
func joinKnowing(
	cluster *openmcpv1alpha1.Cluster, known map[types.UID]string, grants []*openmcpv1alpha1.ClusterRequestGrant, request types.UID, proposal string,
) *openmcpv1alpha1.Cluster {
	var given map[types.UID]string
	if cluster.Spec.Tenancy == openmcpv1alpha1.TenancyShared {
		given = missingPrefixes(known, grants, request, proposal)
	}
	if len(given) == 0 && HasRequest(cluster, request) {
		return cluster
	}
	joined := cluster.DeepCopy()
	if !HasRequest(joined, request) {
		joined.Finalizers = append(joined.Finalizers, finalizerOf(request))
	}
	if len(given) > 0 {
		entries := maps.Clone(known)
		maps.Copy(entries, given)
		setPrefixes(joined, entries)
	}

	return joined
}

// missingPrefixes returns the prefixes of Grants that are lost, and that of a request if it has none. The prefix of a Grant that was restored
// without its owner is not given out, because the request that adopts the Grant gets it.
func missingPrefixes(
	known map[types.UID]string, grants []*openmcpv1alpha1.ClusterRequestGrant, request types.UID, proposal string,
) map[types.UID]string {
	given, reserved := map[types.UID]string{}, map[types.UID]string{}
	for _, grant := range grants {
		owner, prefix := GrantOwner(grant), grant.Spec.Prefix
		switch {
		case CheckPrefix(prefix) != "":
		case owner == "":
			reserved[grant.UID] = prefix
		case known[owner] != prefix:
			given[owner] = prefix
		}
	}
	if known[request] != "" || given[request] != "" {
		return given
	}
	used := maps.Clone(known)
	maps.Copy(used, given)
	maps.Copy(used, reserved)
	given[request] = choosePrefix(proposal, request, used)

	return given
}

// transfer returns the Cluster with the finalizer of one request, which may be "" for none, and the prefix of its Grant handed to another.
func transfer(cluster *openmcpv1alpha1.Cluster, from, to types.UID, prefix string) *openmcpv1alpha1.Cluster {
	moved := Leave(cluster, from)
	if moved.Spec.Tenancy == openmcpv1alpha1.TenancyShared && CheckPrefix(prefix) == "" {
		entries := prefixes(moved)
		entries[to] = prefix
		setPrefixes(moved, entries)
	}
	if !HasRequest(moved, to) {
		moved.Finalizers = append(moved.Finalizers, finalizerOf(to))
	}

	return moved
}

// Rebase returns a later state of a Cluster with the requests that a change between two former states added and removed. The first state is
// nil if the Cluster did not exist. A Cluster that is being deleted gets no request, because the API server refuses new finalizers.
func Rebase(cluster, from, to *openmcpv1alpha1.Cluster) *openmcpv1alpha1.Cluster {
	var left []types.UID
	if from != nil {
		for _, request := range RequestUIDs(from) {
			if !HasRequest(to, request) {
				left = append(left, request)
			}
		}
	}
	rebased := Leave(cluster, left...)
	if cluster.DeletionTimestamp != nil {
		return rebased
	}
	for _, request := range RequestUIDs(to) {
		if from == nil || !HasRequest(from, request) {
			rebased = join(rebased, request, prefixes(to)[request])
		}
	}

	return rebased
}

func finalizerOf(request types.UID) string {
	return openmcpv1alpha1.RequestFinalizerPrefix + string(request)
}
