// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// World has all objects of the scenario, as the API server has them.
type World struct {
	Requests []openmcpv1alpha1.ClusterRequest
	Grants   []openmcpv1alpha1.ClusterRequestGrant
	Clusters []openmcpv1alpha1.Cluster
}

// Findings returns what is wrong: a ClusterRequest that is not granted, whose Cluster is not ready, or whose Grant and Cluster differ about
// it; a Cluster with more requests than Limit or with prefixes that are not free of each other; a Grant or a finalizer of no request.
func (w *World) Findings() []string {
	var findings []string
	add := func(format string, args ...any) { findings = append(findings, fmt.Sprintf(format, args...)) }
	grants := map[types.NamespacedName]*openmcpv1alpha1.ClusterRequestGrant{}
	for i := range w.Grants {
		grants[types.NamespacedName{Namespace: w.Grants[i].Namespace, Name: w.Grants[i].Name}] = &w.Grants[i]
	}
	clusters := map[types.NamespacedName]*openmcpv1alpha1.Cluster{}
	finalizers := 0
	for i := range w.Clusters {
		cluster := &w.Clusters[i]
		key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
		clusters[key] = cluster
		uids := clusterrequest.RequestUIDs(cluster)
		if finalizers += len(uids); len(uids) > Limit {
			add("Cluster %s has %d requests", key, len(uids))
		}
		if a, b, found := clash(cluster, uids); found {
			add("Cluster %s has given out the prefixes %q and %q", key, a, b)
		}
	}
	for i := range w.Requests {
		request := &w.Requests[i]
		key := types.NamespacedName{Namespace: request.Namespace, Name: request.Name}
		if lack := lackOf(request, grants[key], clusters); lack != "" {
			add("ClusterRequest %s %s", key, lack)
		}
	}
	if len(w.Grants) != len(w.Requests) || finalizers != len(w.Requests) {
		add("%d ClusterRequests have %d Grants and %d finalizers on Clusters", len(w.Requests), len(w.Grants), finalizers)
	}

	return findings
}

// lackOf returns what a request lacks to be granted a ready Cluster, or "".
func lackOf(
	request *openmcpv1alpha1.ClusterRequest, grant *openmcpv1alpha1.ClusterRequestGrant,
	clusters map[types.NamespacedName]*openmcpv1alpha1.Cluster,
) string {
	switch {
	case request.Status.Status != openmcpv1alpha1.RequestGranted:
		return fmt.Sprintf("has the status %q: %s", request.Status.Status, request.Status.Message)
	case grant == nil || clusterrequest.GrantOwner(grant) != request.UID:
		return "has no Grant"
	}
	cluster := clusters[KeyOf(grant)]
	switch {
	case cluster == nil || !clusterrequest.HasRequest(cluster, request.UID):
		return "has no finalizer on the Cluster of its Grant"
	case grant.Spec.Prefix == "" || clusterrequest.Prefix(cluster, request.UID) != grant.Spec.Prefix:
		return fmt.Sprintf("has the prefix %q in its Grant, and %q on its Cluster", grant.Spec.Prefix, clusterrequest.Prefix(cluster, request.UID))
	case !meta.IsStatusConditionTrue(request.Status.Conditions, openmcpv1alpha1.ConditionClusterReady):
		return "has a Cluster that is not ready"
	default:
		return ""
	}
}

// clash returns two prefixes of requests of a Cluster of which one begins with the other.
func clash(cluster *openmcpv1alpha1.Cluster, uids []types.UID) (a, b string, found bool) {
	for i, uid := range uids {
		a := clusterrequest.Prefix(cluster, uid)
		for _, other := range uids[:i] {
			if b := clusterrequest.Prefix(cluster, other); strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
				return a, b, true
			}
		}
	}
	return "", "", false
}

// Healthy reports whether the provider has reported that a Cluster is healthy.
func Healthy(cluster *openmcpv1alpha1.Cluster) bool {
	return meta.IsStatusConditionPresentAndEqual(
		cluster.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy, metav1.ConditionTrue)
}
