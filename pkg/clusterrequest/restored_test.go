// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// restored returns the request and the Grant of a request as a backup tool creates them: with another UID, and without what the tool drops.
func restored(
	former *openmcpv1alpha1.ClusterRequest, saved *openmcpv1alpha1.ClusterRequestGrant, keepsOwner, keepsStatus bool,
) (*openmcpv1alpha1.ClusterRequest, *openmcpv1alpha1.ClusterRequestGrant) {
	request, grant := former.DeepCopy(), saved.DeepCopy()
	request.UID, grant.UID = "new", "restored"
	if !keepsOwner {
		grant.OwnerReferences = nil
	}
	if !keepsStatus {
		grant.Status = openmcpv1alpha1.ClusterRequestGrantStatus{}
	}
	return request, grant
}

func TestRestoredGrantIsAdopted(t *testing.T) {
	const prefix = "foo-"
	clusters := map[string]func(w *world, cluster *openmcpv1alpha1.Cluster){
		"as it was": func(*world, *openmcpv1alpha1.Cluster) {},
		"without the finalizer and the prefix of the former request": func(w *world, cluster *openmcpv1alpha1.Cluster) {
			w.SetCluster(Leave(cluster, RequestUIDs(cluster)...))
		},
		"lost": func(w *world, cluster *openmcpv1alpha1.Cluster) { w.DeleteCluster(keyOf(cluster)) },
	}
	for is, change := range clusters {
		for n := range 8 {
			exclusive, keepsOwner, keepsStatus := n&1 > 0, n&2 > 0, n&4 > 0
			name := fmt.Sprintf("cluster-request C60: the Cluster is %s, exclusive %v, owner %v, status %v", is, exclusive, keepsOwner, keepsStatus)
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, Options{})
				former := w.request("platform", withDedicated(exclusive))
				former.Spec.Prefix, former.Spec.Kubernetes = prefix, &openmcpv1alpha1.Kubernetes{Version: "1.20"}
				cluster := w.granted(former)
				request, grant := restored(former, w.Grant(keyOf(former)), keepsOwner, keepsStatus)
				w.SetGrant(grant)
				change(w, cluster)

				if decision := w.decide(request); decision.Outcome != OutcomeAdopted {
					t.Fatalf("outcome %s", decision.Outcome)
				}
				adopted := w.Cluster(keyOf(cluster))
				expectEqual(t, []types.UID{"new"}, RequestUIDs(adopted), "requests of the Cluster")
				want := map[types.UID]string{}
				if !exclusive {
					want["new"] = prefix
				}
				expectEqual(t, want, prefixes(adopted), "prefixes of the Cluster")
				now := w.Grant(keyOf(request))
				expectEqual(t, types.UID("new"), GrantOwner(now), "owner of the Grant")
				expectEqual(t, snapshotOf(request), now.Status.Request, "snapshot")
			})
		}
	}
}

func TestRestoredGrantOfOtherRequests(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*openmcpv1alpha1.ClusterRequest)
	}{
		{"a purpose that the Cluster has not", func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Purposes = append(r.Spec.Purposes, "onboarding") }},
		{"a Cluster of its own", withDedicated(true)},
		{"another version", withVersion("1.20.1")},
	} {
		t.Run("cluster-request C60: a Grant without status does not suit: "+test.reason, func(t *testing.T) {
			w := newWorld(t, Options{})
			former := w.request("platform", withVersion("1.20.3"))
			w.granted(former)
			request, grant := restored(former, w.Grant(keyOf(former)), false, false)
			w.SetGrant(grant)
			test.change(request)
			if decision := w.decide(request); decision.Outcome != OutcomeReplaced || w.Grant(keyOf(request)) != nil {
				t.Errorf("%+v", decision)
			}
		})
	}

	t.Run("cluster-request C60: a Grant without status suits a request that leaves more open", func(t *testing.T) {
		w := newWorld(t, Options{})
		former := w.request("platform onboarding", withVersion("1.20.3"))
		former.Spec.Dedicated = ptr.To(false)
		cluster := w.granted(former)
		request, grant := restored(former, w.Grant(keyOf(former)), false, false)
		w.SetGrant(grant)
		request.Spec.Purposes, request.Spec.Dedicated, request.Spec.Kubernetes = request.Spec.Purposes[:1], nil, nil
		expectEqual(t, cluster.Name, w.granted(request).Name, "Cluster")
	})

	t.Run("cluster-request C60: the prefix of a restored Grant is not given to another request meanwhile", func(t *testing.T) {
		w := newWorld(t, Options{})
		former := w.request("platform", withPrefix("foo-"))
		cluster := w.granted(former)
		request, grant := restored(former, w.Grant(keyOf(former)), false, true)
		w.SetGrant(grant)
		w.SetCluster(Leave(cluster, former.UID)) // as the sweep of finalizers without requests leaves it

		other := w.request("platform", withPrefix("foo-"))
		if got := Prefix(w.granted(other), other.UID); got == "foo-" {
			t.Error("another request has the prefix of the Grant")
		}
		expectEqual(t, "foo-", Prefix(w.granted(request), request.UID), "prefix")
	})

	t.Run("cluster-request C60: only the former request of a restored Grant gives way on its Cluster", func(t *testing.T) {
		w := newWorld(t, Options{})
		former, other := w.request("platform", withPrefix("foo-")), w.request("platform", withPrefix("bar-"))
		w.granted(former)
		w.granted(other)
		request, grant := restored(former, w.Grant(keyOf(former)), false, false)
		w.SetGrant(grant)
		expectEqual(t, map[types.UID]string{"new": "foo-", other.UID: "bar-"}, prefixes(w.granted(request)), "prefixes")
	})

	t.Run("cluster-request C60: the last request does not take the Cluster of a restored Grant with it", func(t *testing.T) {
		w := newWorld(t, Options{})
		former, last := w.request("platform", nil), w.request("platform", nil)
		cluster := w.granted(former)
		w.granted(last)
		request, grant := restored(former, w.Grant(keyOf(former)), false, false)
		w.SetGrant(grant)
		w.SetCluster(Leave(w.Cluster(keyOf(cluster)), former.UID)) // as the sweep of finalizers without requests leaves it
		release := w.Release(last)
		if len(release.Delete) > 0 || len(release.Leave) != 1 {
			t.Errorf("%+v", release)
		}

		w.SetCluster(release.Leave[0])
		w.DeleteGrant(keyOf(last))
		w.granted(request)
		if release := w.Release(request); len(release.Delete) != 1 {
			t.Errorf("the Cluster stays when its last request is deleted: %+v", release)
		}
	})
}
