// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// deleteCluster does what the API server does on a delete request: a Cluster with finalizers stays.
func (w *world) deleteCluster(cluster *openmcpv1alpha1.Cluster) {
	deleted := cluster.DeepCopy()
	deleted.DeletionTimestamp = &now
	w.store(deleted)
}

// store sets a Cluster, which vanishes if it is being deleted and has no finalizer.
func (w *world) store(cluster *openmcpv1alpha1.Cluster) {
	w.SetCluster(cluster)
	if cluster.DeletionTimestamp != nil && len(cluster.Finalizers) == 0 {
		w.DeleteCluster(keyOf(cluster))
	}
}

// step does the first write that a release asks for, and reports whether there was one. It reports a release that only waits as none.
func (w *world) step(request *openmcpv1alpha1.ClusterRequest) bool {
	release := w.Release(request)
	switch {
	case len(release.Delete) > 0:
		w.deleteCluster(release.Delete[0])
	case len(release.Leave) > 0:
		w.store(release.Leave[0])
	case release.WaitFor == nil && release.Grant != nil:
		w.DeleteGrant(keyOf(release.Grant))
	default:
		return false
	}

	return true
}

func (w *world) release(request *openmcpv1alpha1.ClusterRequest) Release {
	w.t.Helper()
	for range 10 {
		if !w.step(request) {
			return w.Release(request)
		}
	}
	w.t.Fatal("the release does not end")
	return Release{}
}

func TestRelease(t *testing.T) {
	t.Run("cluster-request C25: of two requests one leaves, then the other", func(t *testing.T) {
		w := newWorld(t, Options{})
		first, second := w.request("workload", nil), w.request("workload", nil)
		key := keyOf(w.granted(first))
		w.granted(second)
		expectEqual(t, Release{}, w.release(first), "left of the first")
		expectEqual(t, []types.UID{"u2"}, RequestUIDs(w.Cluster(key)), "requests")
		third := w.request("workload", nil)
		expectEqual(t, key, keyOf(w.granted(third)), "Cluster with a free slot")
		w.release(third)
		expectEqual(t, Release{}, w.release(second), "left of the second")
		if w.Cluster(key) != nil {
			t.Error("the Cluster stays")
		}
	})
	t.Run("cluster-request C25: both at once", func(t *testing.T) {
		w := newWorld(t, Options{})
		first, second := w.request("workload", nil), w.request("workload", nil)
		key := keyOf(w.granted(first))
		w.granted(second)
		for range 10 {
			w.step(first)
			w.step(second)
		}
		if w.Cluster(key) != nil || w.Grant(keyOf(first)) != nil || w.Grant(keyOf(second)) != nil {
			t.Error("something is left")
		}
	})
	for _, label := range []string{"false", "", "True"} {
		t.Run("cluster-request C25: the Cluster stays with the label "+label, func(t *testing.T) {
			w := newWorld(t, Options{})
			request := w.request("workload", nil)
			cluster := w.granted(request).DeepCopy()
			cluster.Labels[openmcpv1alpha1.DeleteWithoutRequestsLabel] = label
			w.SetCluster(cluster)
			expectEqual(t, Release{}, w.release(request), "left")
			stays := w.Cluster(keyOf(cluster))
			if stays == nil || stays.DeletionTimestamp != nil || len(stays.Finalizers) > 0 || len(prefixes(stays)) > 0 {
				t.Errorf("%+v", stays)
			}
		})
	}
	t.Run("cluster-request 4.1.5: a request that was never granted", func(t *testing.T) {
		w := newWorld(t, Options{})
		expectEqual(t, Release{}, w.Release(w.request("nosuch", nil)), "release")
	})
	t.Run("cluster-request 4.1.5: the Cluster of a lost finalizer", func(t *testing.T) {
		w := newWorld(t, Options{})
		request := w.request("workload", nil)
		cluster := w.granted(request)
		w.SetCluster(Leave(cluster, request.UID))
		expectEqual(t, Release{}, w.release(request), "left")
		if w.Cluster(keyOf(cluster)) != nil {
			t.Error("the Cluster stays")
		}
	})
	t.Run("cluster-request C60: the Grant of another request stays", func(t *testing.T) {
		w := newWorld(t, Options{})
		former := w.request("platform", nil)
		w.granted(former)
		request := former.DeepCopy()
		request.UID = "new"
		expectEqual(t, Release{}, w.Release(request), "release")
	})
	t.Run("cluster-request C61: the finalizers of two requests that do not exist", func(t *testing.T) {
		w := newWorld(t, Options{})
		for range 3 {
			w.granted(w.request("platform", nil))
		}
		key := types.NamespacedName{Namespace: "team-a", Name: "platform"}
		left := Leave(w.Cluster(key), "u1", "u3")
		expectEqual(t, []types.UID{"u2"}, RequestUIDs(left), "requests")
		expectEqual(t, 1, len(prefixes(left)), "prefixes")
	})
}

func TestWaitForClusterDeletion(t *testing.T) {
	for _, test := range []struct {
		reason   string
		purposes string
		wait     *bool
		waits    bool
	}{
		{reason: "cluster-request C56: unset on an exclusive Cluster", purposes: "mcp", waits: true},
		{reason: "cluster-request C56: false", purposes: "mcp", wait: ptr.To(false)},
		{reason: "cluster-request 4.1.5: unset on a shared Cluster", purposes: "platform"},
		{reason: "cluster-request 4.1.5: true on a shared Cluster", purposes: "platform", wait: ptr.To(true), waits: true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, Options{})
			request := w.request(test.purposes, func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.WaitForClusterDeletion = test.wait })
			cluster := w.granted(request).DeepCopy()
			cluster.Finalizers = append(cluster.Finalizers, openmcpv1alpha1.ProviderFinalizer)
			w.SetCluster(cluster)
			release := w.release(request)
			if waits := release.WaitFor != nil; waits != test.waits {
				t.Errorf("waits %v, want %v", waits, test.waits)
			}
			if kept := w.Grant(keyOf(request)) != nil; kept != test.waits {
				t.Errorf("the Grant is there: %v, want %v", kept, test.waits)
			}
			expectEqual(t, []string{openmcpv1alpha1.ProviderFinalizer}, w.Cluster(keyOf(cluster)).Finalizers, "finalizers")
			w.DeleteCluster(keyOf(cluster))
			expectEqual(t, Release{}, w.release(request), "left once the Cluster is gone")
		})
	}
	t.Run("cluster-request 4.1.5: a shared Cluster that others have is not waited for", func(t *testing.T) {
		w := newWorld(t, Options{})
		request := w.request("platform", func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.WaitForClusterDeletion = ptr.To(true) })
		w.granted(request)
		w.granted(w.request("platform", nil))
		expectEqual(t, Release{}, w.release(request), "left")
	})
}

func TestClusterReady(t *testing.T) {
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	healthy := func(status metav1.ConditionStatus) *openmcpv1alpha1.Cluster {
		cluster := &openmcpv1alpha1.Cluster{}
		cluster.Status.Conditions = []metav1.Condition{{Type: "ClusterHealthy", Status: status, Reason: "R", Message: "m"}}
		return cluster
	}
	for _, test := range []struct {
		reason  string
		cluster *openmcpv1alpha1.Cluster
		want    string
	}{
		{"cluster-request 4.1.1: it follows the provider, True", healthy(metav1.ConditionTrue), "True R"},
		{"cluster-request 4.1.1: it follows the provider, False", healthy(metav1.ConditionFalse), "False R"},
		{"cluster-request 4.1.1: the provider has not reported", &openmcpv1alpha1.Cluster{}, "Unknown HealthUnknown"},
		{"cluster-request C24: the Cluster is lost", nil, "False ClusterNotFound"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := ClusterReady(request, test.cluster)
			expectEqual(t, test.want, string(got.Status)+" "+got.Reason, "condition")
		})
	}
}

func TestRebase(t *testing.T) {
	w := newWorld(t, Options{})
	w.cluster("c", "platform", withRequests("a", "b"))
	from := w.Cluster(types.NamespacedName{Namespace: "team-a", Name: "c"})
	to := join(Leave(from, "a"), "new", "foo-")
	later := from.DeepCopy()
	withRequests("x")(later)
	later.Labels = map[string]string{"label": "later"}
	t.Run("cluster-request 4.1.3: requests that came and went, on a later state", func(t *testing.T) {
		got := Rebase(later, from, to)
		expectEqual(t, []types.UID{"b", "x", "new"}, RequestUIDs(got), "requests")
		expectEqual(t, "foo-", Prefix(got, "new"), "prefix")
		expectEqual(t, "later", got.Labels["label"], "label")
		expectEqual(t, got, Rebase(got, from, to), "rebased again")
	})
	t.Run("cluster-request C26: none comes while the Cluster is being deleted", func(t *testing.T) {
		deleted := later.DeepCopy()
		deleted.DeletionTimestamp = &now
		expectEqual(t, []types.UID{"b", "x"}, RequestUIDs(Rebase(deleted, from, to)), "requests")
	})
	t.Run("cluster-request 4.1.3: a Cluster that did not exist", func(t *testing.T) {
		expectEqual(t, []types.UID{"a", "b", "x", "new"}, RequestUIDs(Rebase(later, nil, to)), "requests")
	})
}
