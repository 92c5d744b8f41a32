// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

func expectEqual(t *testing.T, want, got any, what string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestNewClusterAndGrant(t *testing.T) {
	t.Run("cluster-request C1: a new Cluster of the best profile, and its Grant", func(t *testing.T) {
		w := newWorld(t, Options{})
		request := w.request("mcp", withPrefix("ignored-"))
		decision := w.decide(request)
		name := "mcp-" + hash("team-a/r1", 8)
		expectEqual(t, &openmcpv1alpha1.Cluster{
			TypeMeta: metav1.TypeMeta{APIVersion: "cluster.openmcp.cloud/v1alpha1", Kind: "Cluster"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "team-a", Name: name, Labels: map[string]string{"cluster.openmcp.cloud/delete-without-requests": "true"},
				Finalizers: []string{"request.cluster.openmcp.cloud/u1"},
			},
			Spec: openmcpv1alpha1.ClusterSpec{
				ClusterProviderRef: openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws-workerless"},
				Kubernetes:         &openmcpv1alpha1.Kubernetes{Version: "1.20.3"}, Purposes: []openmcpv1alpha1.PurposeName{"mcp"},
				Tenancy: openmcpv1alpha1.TenancyExclusive,
			},
		}, decision.Cluster, "Cluster")
		expectEqual(t, &openmcpv1alpha1.ClusterRequestGrant{
			TypeMeta: metav1.TypeMeta{APIVersion: "cluster.openmcp.cloud/v1alpha1", Kind: "ClusterRequestGrant"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "r1", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "cluster.openmcp.cloud/v1alpha1", Kind: "ClusterRequest", Name: "r1", UID: "u1", Controller: ptr.To(true),
			}}},
			Spec: openmcpv1alpha1.ClusterRequestGrantSpec{
				ClusterRef: openmcpv1alpha1.NamespacedName{Namespace: "team-a", Name: name},
				Cluster: openmcpv1alpha1.GrantedCluster{
					ClusterSpec: decision.Cluster.Spec,
					Labels:      map[string]openmcpv1alpha1.LabelValue{"cluster.openmcp.cloud/delete-without-requests": "true"},
				},
			},
			Status: openmcpv1alpha1.ClusterRequestGrantStatus{
				ConditionedStatus: openmcpv1alpha1.ConditionedStatus{ObservedGeneration: 1, LastReconcileTime: &now},
				Request: &openmcpv1alpha1.ClusterRequestSnapshot{
					Metadata: openmcpv1alpha1.NamespacedName{Namespace: "team-a", Name: "r1"}, Spec: request.Spec,
				},
			},
		}, decision.Grant, "Grant")
		expectEqual(t, Result{openmcpv1alpha1.RequestGranted, "Success", "granted Cluster team-a/" + name +
			`; without prefix "ignored-" of spec.prefix: the Cluster has no other request`}, decision.Result, "result")
		if decision.Outcome != OutcomeChosen || !decision.Create {
			t.Errorf("outcome %s, create %v", decision.Outcome, decision.Create)
		}
	})
	t.Run("cluster-request C2: a second request gets a second Cluster", func(t *testing.T) {
		w := newWorld(t, Options{})
		if a, b := w.granted(w.request("mcp", nil)), w.granted(w.request("mcp", nil)); a.Name == b.Name {
			t.Error("one Cluster for two dedicated requests")
		}
	})
}

func TestSharing(t *testing.T) {
	count := func(w *world) map[int]int { // Clusters by their numbers of requests
		clusters := map[int]int{}
		for _, cluster := range w.sorted {
			clusters[len(cluster.requests)]++
		}
		return clusters
	}
	t.Run("cluster-request C3: a limit of two", func(t *testing.T) {
		w := newWorld(t, Options{})
		for range 3 {
			w.granted(w.request("workload", nil))
		}
		expectEqual(t, map[int]int{2: 1, 1: 1}, count(w), "Clusters by requests")
	})
	t.Run("cluster-request C4: no limit", func(t *testing.T) {
		w := newWorld(t, Options{})
		for range 20 {
			w.granted(w.request("platform", nil))
		}
		expectEqual(t, map[int]int{20: 1}, count(w), "Clusters by requests")
	})
	t.Run("cluster-request C5: dedicated by the request", func(t *testing.T) {
		w := newWorld(t, Options{})
		w.granted(w.request("workload", nil))
		if cluster := w.granted(w.request("workload", withDedicated(true))); cluster.Spec.Tenancy != openmcpv1alpha1.TenancyExclusive {
			t.Error("the Cluster is shared")
		}
		w.granted(w.request("workload", nil))
		expectEqual(t, map[int]int{2: 1, 1: 1}, count(w), "Clusters by requests")
	})
	t.Run("cluster-request C6: shared by the request", func(t *testing.T) {
		w := newWorld(t, Options{})
		for range 2 {
			w.granted(w.request("mcp", withDedicated(false)))
		}
		expectEqual(t, map[int]int{2: 1}, count(w), "Clusters by requests")
	})
	t.Run("cluster-request C7: dedicated by one of the purposes", func(t *testing.T) {
		w := newWorld(t, Options{})
		for range 2 {
			w.granted(w.request("platform mcp", nil))
		}
		expectEqual(t, map[int]int{1: 2}, count(w), "Clusters by requests")
	})
	t.Run("cluster-request C19: fifty requests one after the other", func(t *testing.T) {
		w := newWorld(t, Options{})
		for range 50 {
			w.granted(w.request("workload", nil))
		}
		expectEqual(t, map[int]int{2: 25}, count(w), "Clusters by requests")
	})
	t.Run("cluster-request C50: the smallest limit that is not 0", func(t *testing.T) {
		w := newWorld(t, Options{})
		w.purpose("build", openmcpv1alpha1.PurposeSpec{TenancyLimit: 5})
		w.cluster("manual", "workload build platform", nil)
		var names []string
		for range 3 {
			names = append(names, w.granted(w.request("build", nil)).Name)
		}
		expectEqual(t, []string{"manual", "manual", "build-" + hash("team-a/r3", 8)}, names, "Clusters")
	})
}

func TestPrefixesOnOneCluster(t *testing.T) {
	t.Run("cluster-request C18: proposals", func(t *testing.T) {
		w := newWorld(t, Options{})
		var given []string
		for _, proposal := range []string{"foo-", "foo-", "foo-bar-", "x-", "bar-", ""} {
			request := w.request("platform", withPrefix(proposal))
			w.granted(request)
			given = append(given, w.Grant(keyOf(request)).Spec.Prefix)
		}
		if given[0] != "foo-" || given[4] != "bar-" {
			t.Errorf("proposals are not taken: %q", given)
		}
		expectPrefixFree(t, given)
		entries := prefixes(w.Cluster(types.NamespacedName{Namespace: "team-a", Name: "platform"}))
		expectEqual(t, slices.Sorted(slices.Values(given)), slices.Sorted(maps.Values(entries)), "annotation")
	})
	t.Run("cluster-request C55: the same prefix for the same UID, and entries that come back", func(t *testing.T) {
		w := newWorld(t, Options{})
		first := w.request("platform", withPrefix("foo-"))
		cluster := w.granted(first)
		second := w.request("platform", nil)
		before := w.Decide(second, now)
		expectEqual(t, before, w.Decide(second, now), "decided twice")
		lost := cluster.DeepCopy()
		delete(lost.Annotations, openmcpv1alpha1.PrefixesAnnotation)
		w.SetCluster(lost)
		third := w.request("platform", withPrefix("foo-"))
		w.granted(third)
		w.granted(second)
		given := []string{w.Grant(keyOf(first)).Spec.Prefix, w.Grant(keyOf(second)).Spec.Prefix, w.Grant(keyOf(third)).Spec.Prefix}
		expectPrefixFree(t, given)
		entries := prefixes(w.Cluster(keyOf(cluster)))
		expectEqual(t, map[types.UID]string{"u1": "foo-", "u2": given[1], "u3": given[2]}, entries, "annotation")
		if CheckPrefix(given[1]) != "" || CheckPrefix(given[2]) != "" {
			t.Errorf("derived prefixes of another form: %q", given)
		}
	})
	t.Run("cluster-request 4.1.4: an annotation that is no JSON object counts as lost", func(t *testing.T) {
		w := newWorld(t, Options{})
		cluster := w.granted(w.request("platform", withPrefix("foo-"))).DeepCopy()
		cluster.Annotations[openmcpv1alpha1.PrefixesAnnotation] = "[1]"
		w.SetCluster(cluster)
		w.granted(w.request("platform", withPrefix("bar-")))
		expectEqual(t, map[types.UID]string{"u1": "foo-", "u2": "bar-"}, prefixes(w.Cluster(keyOf(cluster))), "annotation")
	})
}

func expectPrefixFree(t *testing.T, given []string) {
	t.Helper()
	for i, a := range given {
		for j, b := range given {
			if i != j && strings.HasPrefix(a, b) {
				t.Errorf("%q begins with %q", a, b)
			}
		}
	}
}

// A grant is a promise: whatever is lost comes back as it was, and nothing of it is chosen again.
func TestGrantIsNotChosenAgain(t *testing.T) {
	for _, test := range []struct {
		reason string
		lose   func(w *world, request *openmcpv1alpha1.ClusterRequest, cluster *openmcpv1alpha1.Cluster)
		want   Outcome
	}{
		{reason: "cluster-request C20: the hub was killed before the Grant", want: OutcomeRecovered,
			lose: func(w *world, request *openmcpv1alpha1.ClusterRequest, _ *openmcpv1alpha1.Cluster) {
				w.DeleteGrant(keyOf(request))
			}},
		{reason: "cluster-request C21: the Grant is deleted, and other Clusters would be chosen now", want: OutcomeRecovered,
			lose: func(w *world, request *openmcpv1alpha1.ClusterRequest, _ *openmcpv1alpha1.Cluster) {
				w.DeleteGrant(keyOf(request))
				w.cluster("aaa", "platform", nil)
			}},
		{reason: "cluster-request C22: the status is wiped", want: OutcomeKept,
			lose: func(_ *world, request *openmcpv1alpha1.ClusterRequest, _ *openmcpv1alpha1.Cluster) {
				request.Status = openmcpv1alpha1.ClusterRequestStatus{}
			}},
		{reason: "cluster-request C23: the finalizer is removed by hand, and the Cluster is full", want: OutcomeKept,
			lose: func(w *world, request *openmcpv1alpha1.ClusterRequest, cluster *openmcpv1alpha1.Cluster) {
				left := Leave(cluster, request.UID)
				w.purpose("platform", openmcpv1alpha1.PurposeSpec{TenancyLimit: 1})
				w.SetCluster(left)
			}},
		{reason: "cluster-request C24: the Cluster is lost", want: OutcomeKept,
			lose: func(w *world, _ *openmcpv1alpha1.ClusterRequest, cluster *openmcpv1alpha1.Cluster) {
				w.DeleteCluster(keyOf(cluster))
			}},
		{reason: "cluster-request C59: the Cluster is lost after its profile, version and purpose have changed", want: OutcomeKept,
			lose: func(w *world, _ *openmcpv1alpha1.ClusterRequest, cluster *openmcpv1alpha1.Cluster) {
				w.DeleteCluster(keyOf(cluster))
				w.SetClusterProvider(provider("gardener", profile("other")))
				w.purpose("platform", openmcpv1alpha1.PurposeSpec{Dedicated: true, ClusterTemplate: &openmcpv1alpha1.ClusterTemplate{
					Labels: map[string]openmcpv1alpha1.LabelValue{"a": "b"},
				}})
			}},
		{reason: "cluster-request C39: the Purpose is deleted", want: OutcomeKept,
			lose: func(w *world, _ *openmcpv1alpha1.ClusterRequest, _ *openmcpv1alpha1.Cluster) {
				w.DeletePurpose("platform")
			}},
		{reason: "cluster-request 4.1.3: the provider is deleted", want: OutcomeKept,
			lose: func(w *world, _ *openmcpv1alpha1.ClusterRequest, _ *openmcpv1alpha1.Cluster) {
				w.DeleteClusterProvider("gardener")
			}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.granted(w.request("platform", withPrefix("other-")))
			request := w.request("platform", withPrefix("foo-"))
			cluster := w.granted(request)
			grant := w.Grant(keyOf(request)).DeepCopy()
			test.lose(w, request, cluster)
			decision := w.decide(request)
			if decision.Outcome != test.want {
				t.Errorf("outcome %s, want %s", decision.Outcome, test.want)
			}
			expectEqual(t, grant, w.Grant(keyOf(request)), "Grant")
			restored := w.Cluster(keyOf(cluster))
			expectEqual(t, cluster.Spec, restored.Spec, "spec of the Cluster")
			expectEqual(t, cluster.Labels, restored.Labels, "labels of the Cluster")
			expectEqual(t, "foo-", Prefix(restored, request.UID), "prefix")
			expectEqual(t, prefixes(cluster), prefixes(restored), "all prefixes")
			if !HasRequest(restored, request.UID) {
				t.Error("the finalizer is missing")
			}
			expectEqual(t, openmcpv1alpha1.RequestGranted, decision.Result.Status, "status")
		})
	}
}

func TestRecovery(t *testing.T) {
	t.Run("cluster-request 4.1.3: a Cluster of its own that an administrator gave the finalizer of the request", func(t *testing.T) {
		w := newWorld(t, Options{}) // docs/openmcp.md moves clusters so.
		w.cluster("moved", "mcp", func(c *openmcpv1alpha1.Cluster) { c.Spec.Tenancy = openmcpv1alpha1.TenancyExclusive })
		request := w.request("mcp", func(r *openmcpv1alpha1.ClusterRequest) {
			r.Annotations = map[string]string{openmcpv1alpha1.OperationAnnotation: openmcpv1alpha1.OperationIgnore}
		})
		expectEqual(t, OutcomeIgnored, w.Decide(request, now).Outcome, "outcome with the annotation")
		cluster := w.Cluster(types.NamespacedName{Namespace: "team-a", Name: "moved"}).DeepCopy()
		withRequests(string(request.UID))(cluster)
		w.SetCluster(cluster)
		request.Annotations = nil
		decision := w.decide(request)
		expectEqual(t, OutcomeRecovered, decision.Outcome, "outcome")
		expectEqual(t, "moved", decision.Grant.Spec.ClusterRef.Name, "Cluster of the Grant")
	})
	t.Run("cluster-request 4.1.3: of several Clusters the first is kept, and the others lose the finalizer", func(t *testing.T) {
		w := newWorld(t, Options{})
		for _, name := range []string{"b", "a", "c"} {
			w.cluster(name, "platform", withRequests("u1"))
		}
		decision := w.decide(w.request("platform", nil))
		expectEqual(t, "a", decision.Grant.Spec.ClusterRef.Name, "Cluster of the Grant")
		expectEqual(t, 1, len(w.ClustersOf("u1")), "Clusters with the finalizer")
		w.cluster("b", "platform", withRequests("u1"))
		expectEqual(t, 1, len(w.Decide(w.request("platform", func(r *openmcpv1alpha1.ClusterRequest) { r.Name, r.UID = "r1", "u1" }), now).Leave),
			"Clusters that lose the finalizer after the Grant was written")
	})
	t.Run("cluster-request C26: a Cluster that is being deleted stays granted and gets no finalizer", func(t *testing.T) {
		w := newWorld(t, Options{})
		request := w.request("platform", nil)
		cluster := Leave(w.granted(request), request.UID)
		cluster.DeletionTimestamp = &now
		w.SetCluster(cluster)
		decision := w.decide(request)
		if decision.Cluster != nil || decision.Outcome != OutcomeKept {
			t.Errorf("%+v", decision)
		}
		ready := ClusterReady(request, w.Cluster(keyOf(cluster)))
		if ready.Status != metav1.ConditionFalse || ready.Reason != "ClusterTerminating" {
			t.Errorf("%+v", ready)
		}
	})
	t.Run("cluster-request C52: a request that is ignored", func(t *testing.T) {
		w := newWorld(t, Options{})
		request := w.request("platform", func(r *openmcpv1alpha1.ClusterRequest) {
			r.Annotations = map[string]string{openmcpv1alpha1.OperationAnnotation: "ignore"}
		})
		expectEqual(t, Decision{Outcome: OutcomeIgnored}, w.Decide(request, now), "decision")
		request.Annotations = nil
		w.granted(request)
	})
}

func TestGrantOfAFormerRequest(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		t.Run(fmt.Sprintf("cluster-request C60: a request of the same spec adopts it, dedicated %v", exclusive), func(t *testing.T) {
			w := newWorld(t, Options{})
			former := w.request("platform", withDedicated(exclusive))
			former.Spec.Prefix = "foo-"
			cluster := w.granted(former)
			request := former.DeepCopy()
			request.UID = "new"
			decision := w.decide(request)
			if decision.Outcome != OutcomeAdopted {
				t.Errorf("outcome %s", decision.Outcome)
			}
			adopted := w.Cluster(keyOf(cluster))
			expectEqual(t, []types.UID{"new"}, RequestUIDs(adopted), "requests of the Cluster")
			expectEqual(t, Prefix(cluster, former.UID), Prefix(adopted, "new"), "prefix")
			expectEqual(t, len(prefixes(cluster)), len(prefixes(adopted)), "number of prefixes")
			expectEqual(t, types.UID("new"), GrantOwner(w.Grant(keyOf(request))), "owner of the Grant")
		})
	}
	t.Run("cluster-request C60: a request of another spec replaces it", func(t *testing.T) {
		w := newWorld(t, Options{})
		former := w.request("workload", nil)
		cluster := w.granted(former)
		request := former.DeepCopy()
		request.UID, request.Spec.Purposes = "new", []openmcpv1alpha1.PurposeName{"platform"}
		if decision := w.decide(request); decision.Outcome != OutcomeReplaced || w.Grant(keyOf(request)) != nil {
			t.Errorf("%+v", decision)
		}
		expectEqual(t, 0, len(RequestUIDs(w.Cluster(keyOf(cluster)))), "requests of the former Cluster")
		expectEqual(t, "platform", w.granted(request).Name, "Cluster")
	})
	t.Run("cluster-request C60: the lost Cluster of an adopted Grant", func(t *testing.T) {
		w := newWorld(t, Options{})
		former := w.request("platform", withPrefix("foo-"))
		cluster := w.granted(former)
		w.DeleteCluster(keyOf(cluster))
		request := former.DeepCopy()
		request.UID = "new"
		decision := w.decide(request)
		expectEqual(t, map[types.UID]string{"new": "foo-"}, prefixes(decision.Cluster), "prefixes")
		expectEqual(t, []types.UID{"new"}, RequestUIDs(decision.Cluster), "requests")
	})
}
