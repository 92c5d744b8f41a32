// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"strconv"
	"testing"
	"testing/synctest"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

// TestSamePodsNeedNoTurn checks T12: while another review has the turn of the namespace, the policies are injected into Pods like those that
// were reviewed before.
func TestSamePodsNeedNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, _ := mutating(cached(t,
			clusterPolicy(t, "pool", "nodeSelector: {pool: etcd}"), policyIn(t, "team-a", "disk", "nodeSelector: {disk: ssd}")))
		first := review(t, handler, creation(t, deployments, template("{}")))

		done := hold(t, handler)
		defer done()
		again := creation(t, deployments, template("{}"))
		again.Name = "other"

		response := review(t, handler, again)
		if len(first.Patch) == 0 || !bytes.Equal(response.Patch, first.Patch) || len(response.Warnings) > 0 {
			t.Errorf("T12: the patch %s with the warnings %q, want that of the first Pod: %s", response.Patch, response.Warnings, first.Patch)
		}

		for reason, other := range map[string]*admissionv1.AdmissionRequest{
			"another pod spec": creation(t, deployments, template("{schedulerName: other}")),
			"another path":     creation(t, podKind, "{metadata: {labels: {app: etcd}}, spec: {}}"),
			"other labels":     creation(t, deployments, "{spec: {template: {metadata: {labels: {app: etcd, a: b}}, spec: {}}}}"),
		} {
			if response := review(t, handler, other); len(response.Warnings) != 1 {
				t.Errorf("%s: warnings %q, want that the namespace is busy", reason, response.Warnings)
			}
		}
	})
}

// hold takes the turn of the namespace team-a.
func hold(t *testing.T, handler admission.Handler) (done func()) {
	t.Helper()
	own, is := handler.(*mutator)
	if !is {
		t.Fatalf("the handler is a %T", handler)
	}
	done, err := own.turns.take(t.Context(), "team-a")
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestMemoFollowsPolicies(t *testing.T) {
	pool, disk := clusterPolicy(t, "pool", "nodeSelector: {pool: etcd}"), policyIn(t, "team-a", "disk", "nodeSelector: {disk: ssd}")
	newer := func(object client.Object) client.Object {
		object.SetResourceVersion("2")
		return object
	}
	labelled := namespace()
	labelled.Labels = map[string]string{"team": "a"}
	for _, tc := range []struct {
		reason string
		change func(*Source)
		patch  string
	}{
		{"nothing changes", func(*Source) {}, `{"disk":"ssd","pool":"etcd"}`},
		{"a policy of the namespace changes", func(s *Source) {
			s.OnUpdate(disk, newer(policyIn(t, "team-a", "disk", "nodeSelector: {disk: hdd}")))
		}, `{"disk":"hdd","pool":"etcd"}`},
		{"a policy of the namespace is new", func(s *Source) {
			s.OnAdd(policyIn(t, "team-a", "zone", "nodeSelector: {zone: a}"), false)
		}, `{"disk":"ssd","pool":"etcd","zone":"a"}`},
		{"the policy of the namespace goes", func(s *Source) { s.OnDelete(disk) }, `{"pool":"etcd"}`},
		{"a cluster policy changes", func(s *Source) {
			s.OnUpdate(pool, newer(clusterPolicy(t, "pool", "nodeSelector: {pool: other}")))
		}, `{"disk":"ssd","pool":"other"}`},
		{"the cluster policy goes", func(s *Source) { s.OnDelete(pool) }, `{"disk":"ssd"}`},
		{"the namespace gains a label that a cluster policy excludes", func(s *Source) {
			excluding := clusterPolicy(t, "pool", "nodeSelector: {pool: etcd}")
			parse(t, "namespaceSelector: {matchExpressions: [{key: team, operator: DoesNotExist}]}", &excluding.Spec)
			s.OnUpdate(pool, newer(excluding))
			s.OnUpdate(&corev1.Namespace{}, newer(labelled))
		}, `{"disk":"ssd"}`},
		{"a policy of another namespace changes", func(s *Source) {
			s.OnAdd(policyIn(t, "team-b", "disk", "nodeSelector: {disk: hdd}"), false)
		}, `{"disk":"ssd","pool":"etcd"}`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			source := cached(t, pool, disk)
			handler, _ := mutating(source)
			review(t, handler, creation(t, deployments, template("{}")))
			tc.change(source)
			want := `[{"op":"add","path":"/spec/template/spec/nodeSelector","value":` + tc.patch + `}]`
			if response := review(t, handler, creation(t, deployments, template("{}"))); string(response.Patch) != want {
				t.Errorf("the patch is %s, want %s", response.Patch, want)
			}
		})
	}
}

func TestMemoIsBounded(t *testing.T) {
	var m memo
	about := func(i int) question { return question{workload: strconv.Itoa(i)} }
	large := outcome{patch: make([]byte, maxOutcomeBytes/2)}
	for i := range 100 {
		m.put(about(i), large)
		if _, found := m.get(about(0)); !found {
			t.Fatalf("outcome 0 is not found after %d others, although it is used all the time", i)
		}
	}

	if m.bytes > maxMemoBytes || len(m.outcomes) != m.recent.Len() || len(m.outcomes) < 20 {
		t.Errorf("%d outcomes of %d bytes, %d in the list", len(m.outcomes), m.bytes, m.recent.Len())
	}
	if _, found := m.get(about(1)); found {
		t.Error("outcome 1 was not used for the longest time, and is kept")
	}
	m.put(about(1), outcome{policies: []podscheduling.PolicyResult{{Skipped: make([]podscheduling.Skip, maxOutcomeBytes/resultBytes)}}})
	if _, found := m.get(about(1)); found {
		t.Error("an outcome is kept that is too large")
	}
}
