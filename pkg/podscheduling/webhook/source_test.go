// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

// matching returns the policies for a Pod with the label app=etcd in the namespace team-a.
func matching(tb testing.TB, s *Source) []string {
	tb.Helper()
	policies, err := s.Policies(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	names := []string{}
	for _, policy := range policies.Matching("team-a", nil, map[string]string{"app": "etcd"}) {
		names = append(names, policy.String())
	}
	return names
}

func TestSourceFollowsEvents(t *testing.T) {
	s := cached(t)
	everywhere, mine := clusterPolicy(t, "c", "nodeName: n1"), policyIn(t, "team-a", "p", "nodeName: n1")
	elsewhere := everywhere.DeepCopy()
	elsewhere.Spec.NamespaceSelector, elsewhere.ResourceVersion = nil, "2"
	for _, step := range []struct {
		reason string
		event  func()
		want   []string
	}{
		{"no policy", func() {}, []string{}},
		{"the initial list", func() { s.OnAdd(everywhere, true); s.OnAdd(mine, true) },
			[]string{"ClusterPodSchedulingPolicy c", "PodSchedulingPolicy team-a/p"}},
		{"an update", func() { s.OnUpdate(everywhere, elsewhere) }, []string{"PodSchedulingPolicy team-a/p"}},
		{"a resync compiles nothing", func() { s.OnUpdate(elsewhere, elsewhere) }, []string{"PodSchedulingPolicy team-a/p"}},
		{"a deletion", func() { s.OnDelete(mine) }, []string{}},
		{"an update back", func() { s.OnUpdate(elsewhere, everywhere) }, []string{"ClusterPodSchedulingPolicy c"}},
		{"a deletion that the watch missed", func() {
			s.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "c", Obj: everywhere})
		}, []string{}},
	} {
		step.event()
		if diff := cmp.Diff(step.want, matching(t, s)); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", step.reason, diff)
		}
	}
}

// Policies are compiled and arranged when they change, not in each review.
func TestPoliciesAreArrangedOnce(t *testing.T) {
	s := cached(t, clusterPolicy(t, "c", "nodeName: n1"))

	first, err := s.Policies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.Policies(t.Context()); again != first {
		t.Error("without an event the policies are arranged again")
	}
	s.OnAdd(clusterPolicy(t, "d", "nodeName: n1"), false)

	if changed, _ := s.Policies(t.Context()); changed == first {
		t.Error("after an event the policies are those from before")
	}
}

// Without the field that cannot be decoded, the policy would inject what its author did not want.
func TestUnreadablePolicyIsInvalid(t *testing.T) {
	policy := clusterPolicy(t, "c", "nodeSelector: {pool: etcd}")
	if err := unreadable.Mark(policy, unreadable.Fields{{Path: "spec.tolerations[0]", Value: "7", Problem: "is no object"}}); err != nil {
		t.Fatal(err)
	}
	compiled := compile(policy)
	if len(compiled.Errors) != 1 || compiled.Errors[0].Field != "spec.tolerations[0]" {
		t.Errorf("errors %v, want one about spec.tolerations[0]", compiled.Errors)
	}
}

// Reviews wait for the initial lists, and read from the API server if these do not come: docs/spec/pod-scheduling-policy.md 2.1.6.
func TestFirstReviewsWaitForTheCache(t *testing.T) {
	policy := clusterPolicy(t, "live", "nodeName: n1")
	live := hub(t, namespace(), policy, policyIn(t, "team-a", "live", "nodeName: n1"))
	for _, tc := range []struct {
		reason     string
		syncsAfter time.Duration
		timeout    time.Duration
		want       []string
		waited     time.Duration
	}{
		{"a cache that has synced", 0, time.Minute, []string{"ClusterPodSchedulingPolicy cached"}, 0},
		{"a cache that syncs soon", 2 * time.Second, time.Minute, []string{"ClusterPodSchedulingPolicy cached"}, 2 * time.Second},
		{"a cache that does not sync", time.Hour, time.Minute,
			[]string{"ClusterPodSchedulingPolicy live", "PodSchedulingPolicy team-a/live"}, syncTimeout},
		{"a review with little time", time.Hour, time.Second,
			[]string{"ClusterPodSchedulingPolicy live", "PodSchedulingPolicy team-a/live"}, time.Second},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := cached(t, clusterPolicy(t, "cached", "nodeName: n1")), time.Now()
				s.api = live
				s.synced = []toolscache.InformerSynced{func() bool { return time.Since(start) >= tc.syncsAfter }}

				ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
				defer cancel()
				policies, err := s.Policies(ctx)
				if err != nil {
					t.Fatal(err)
				}
				names := []string{}
				for _, policy := range policies.Matching("team-a", nil, map[string]string{"app": "etcd"}) {
					names = append(names, policy.String())
				}

				if diff := cmp.Diff(tc.want, names); diff != "" {
					t.Errorf("policies (-want +got):\n%s", diff)
				}
				if waited := time.Since(start); waited != tc.waited {
					t.Errorf("waited %s, want %s", waited, tc.waited)
				}
				if _, err := s.Policies(t.Context()); err != nil || time.Since(start) > syncTimeout {
					t.Errorf("the second review got %v after %s in all, want it not to wait past %s", err, time.Since(start), syncTimeout)
				}
			})
		})
	}
}

func TestNamespaceLabels(t *testing.T) {
	labelled := func(name, from string) *corev1.Namespace {
		namespace := namespace()
		namespace.Name, namespace.ResourceVersion, namespace.Labels = name, from, map[string]string{"from": from}
		return namespace
	}
	expect := func(s *Source, name, want string) {
		t.Helper()
		if labels, err := s.NamespaceLabels(t.Context(), name); err != nil || labels["from"] != want {
			t.Errorf("labels of %s: %v, %v; want those of the %s", name, labels, err, want)
		}
	}

	s := newSource(hub(t, namespace(), labelled("team-new", "server")))
	s.OnAdd(labelled("team-a", "cache"), true)
	expect(s, "team-a", "cache")
	expect(s, "team-new", "server")

	s.OnUpdate(labelled("team-a", "cache"), labelled("team-a", "update"))
	expect(s, "team-a", "update")

	s.OnDelete(labelled("team-a", "update"))
	expect(s, "team-a", "") // The API server still has it, without labels.
	if _, err := s.NamespaceLabels(t.Context(), "team-c"); err == nil {
		t.Error("the labels of a namespace that does not exist: no error")
	}
	expect(unsynced(hub(t, labelled("team-new", "server"))), "team-new", "server")
}
