// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
)

// TestEventsEnqueueWhatTheyConcern has three clusters in the set s and one in the set t, and a ClusterProfile of c9 in the namespace team, whose
// cluster is gone. The namespaces team and other have bound s, mixed has bound t and a set with a mistake, and out has bound s and wants no
// ClusterProfiles.
func TestEventsEnqueueWhatTheyConcern(t *testing.T) {
	inSet := func(name, set string) *clusterv1.ManagedCluster {
		of := cluster(name)
		of.Labels[clusterv1beta2.ClusterSetLabel] = set
		return of
	}
	binding := func(namespace, set string, labels ...string) *clusterv1beta2.ManagedClusterSetBinding {
		of := &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
		}
		for _, label := range labels {
			metav1.SetMetaDataLabel(&of.ObjectMeta, label, "false")
		}
		return of
	}
	set := func(name string, generation int64) *clusterv1beta2.ManagedClusterSet {
		of := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: generation}}
		if name == "mistaken" {
			of.Spec.ClusterSelector.SelectorType = "Unknown"
		}
		return of
	}
	bindings := []*clusterv1beta2.ManagedClusterSetBinding{
		binding("team", "s"), binding("other", "s"), binding("out", "s", clusterprofiles.OptOutLabel),
		binding("mixed", "mistaken"), binding("mixed", "t"),
	}
	relabelled := inSet("c1", "t")
	retaken := inSet("c1", "s")
	retaken.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect}}

	for _, tc := range []struct {
		reason string
		send   func(ctx context.Context, h *eventHandlers, q queueOf)
		want   string
	}{
		{"a cluster comes", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.clusters().Create(ctx, event.CreateEvent{Object: inSet("c1", "s")}, q)
		}, "mixed/c1 other/c1 team/c1"},
		{"a cluster of no bound set comes", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.clusters().Create(ctx, event.CreateEvent{Object: inSet("c1", "u")}, q)
		}, "mixed/c1"},
		{"a cluster goes to another set", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.clusters().Update(ctx, event.UpdateEvent{ObjectOld: inSet("c1", "s"), ObjectNew: relabelled}, q)
		}, "mixed/c1 other/c1 team/c1"},
		{"a cluster gets what no ClusterProfile says", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.clusters().Update(ctx, event.UpdateEvent{ObjectOld: inSet("c1", "s"), ObjectNew: retaken}, q)
		}, ""},
		{"a cluster is deleted", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.clusters().Delete(ctx, event.DeleteEvent{Object: inSet("c1", "s")}, q)
		}, "mixed/c1 other/c1 team/c1"},
		{"a set changes", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.boundSets().Update(ctx, event.UpdateEvent{ObjectOld: set("s", 1), ObjectNew: set("s", 2)}, q)
		}, "other/c1 other/c2 other/c3 team/c1 team/c2 team/c3 team/c9"},
		{"the status of a set changes", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.boundSets().Update(ctx, event.UpdateEvent{ObjectOld: set("s", 1), ObjectNew: set("s", 1)}, q)
		}, ""},
		{"a set that nobody has bound changes", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.boundSets().Update(ctx, event.UpdateEvent{ObjectOld: set("u", 1), ObjectNew: set("u", 2)}, q)
		}, ""},
		{"a binding comes", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.bindings().Create(ctx, event.CreateEvent{Object: binding("team", "t")}, q)
		}, "team/c4 team/c9"},
		{"a binding has come", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.bound.set(binding("late", "t"))
			h.clusters().Create(ctx, event.CreateEvent{Object: inSet("c4", "t")}, q)
		}, "late/c4 mixed/c4"},
		{"a binding of a set with a mistake comes", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.bindings().Create(ctx, event.CreateEvent{Object: binding("team", "mistaken")}, q)
		}, "team/c9"},
		{"a binding is deleted", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.bindings().Delete(ctx, event.DeleteEvent{Object: binding("team", "s")}, q)
			h.clusters().Create(ctx, event.CreateEvent{Object: inSet("c1", "s")}, q)
		}, "mixed/c1 other/c1 team/c9"},
		{"a binding counts no more", func(ctx context.Context, h *eventHandlers, q queueOf) {
			quiet := binding("team", "s", clusterprofiles.OptOutLabel)
			h.bindings().Update(ctx, event.UpdateEvent{ObjectOld: binding("team", "s"), ObjectNew: quiet}, q)
		}, "team/c9"},
		{"a binding that does not count comes", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.bindings().Create(ctx, event.CreateEvent{Object: binding("quiet", "s", clusterprofiles.OptOutLabel)}, q)
		}, ""},
		{"a binding gets another label", func(ctx context.Context, h *eventHandlers, q queueOf) {
			h.bindings().Update(ctx, event.UpdateEvent{ObjectOld: binding("team", "s"), ObjectNew: binding("team", "s", "other")}, q)
		}, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			left := &clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "c9"}}
			objects := []client.Object{
				set("s", 1), set("t", 1), set("mistaken", 1), inSet("c1", "s"), inSet("c2", "s"), inSet("c3", "s"), inSet("c4", "t"), left,
			}
			store := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).Build()
			patterns, err := clusterprofiles.ParsePatterns([]string{"*"})
			if err != nil {
				t.Fatal(err)
			}
			h := &eventHandlers{cache: store, sets: newSets(store, nil), patterns: patterns, bound: newBound()}
			for _, of := range bindings {
				h.bound.set(of)
			}

			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer q.ShutDown()
			tc.send(t.Context(), h, q)
			var got []string
			for q.Len() > 0 {
				request, _ := q.Get()
				got = append(got, request.String())
				q.Done(request)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type queueOf = workqueue.TypedRateLimitingInterface[reconcile.Request]
