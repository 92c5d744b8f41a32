// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/program"
)

// TestWorkloadsOfClustersThatStay has clusters come, go and change groups, changes the group rules, spoils the placement, and kills the hub
// between two writes. Each ManifestWork of a cluster that is selected before and after a step keeps its UID, under every rollout strategy.
func TestWorkloadsOfClustersThatStay(t *testing.T) {
	s := startScene(t)
	t.Run("clusters come and go", func(t *testing.T) {
		s.take(t, s.insert("production"))
		s.take(t, s.leave("production"))
		s.take(t, s.insert("canary"))
		s.take(t, s.leave(""))
	})

	t.Run("clusters change groups by label", func(t *testing.T) {
		s.take(t, s.move("production", "canary"))
		s.take(t, s.move("canary", "staging"))
		s.take(t, s.swap("staging", "production"))
		s.take(t, s.move("staging", "production"))
	})

	t.Run("the spec changes groups", func(t *testing.T) {
		for _, c := range []struct {
			reason string
			rules  []string
			length int
		}{
			{"a rule in front", []string{"production", "canary", "staging"}, 50},
			{"the first rule goes", []string{"canary", "staging"}, 50},
			{"a rule at the end", []string{"canary", "staging", "production"}, 50},
			{"the rule in the middle goes", []string{"canary", "production"}, 50},
			{"a rule in the middle", []string{"canary", "staging", "production"}, 50},
			{"the order is reversed", []string{"production", "staging", "canary"}, 50},
			{"shorter groups", []string{"production", "staging", "canary"}, 30},
			{"no rule is left", nil, 100},
			{"rules for what was the rest", []string{"canary", "staging"}, 50},
		} {
			t.Run(c.reason, func(t *testing.T) { s.take(t, s.regroup(c.length, c.rules...)) })
		}
	})

	t.Run("the placement is misconfigured", func(t *testing.T) {
		s.misconfigure(t)
		program.Must(t, s.move("production", "staging").apply(t.Context()))
		// With a new revision the work manager looks at the decisions of the misconfigured placement again, for every cluster.
		s.rollOut(t, rolloutAll)
		s.rollOut(t, rolloutSome)
		s.take(t, s.regroup(s.length, s.rules...))
	})

	t.Run("the hub is killed while it regroups", func(t *testing.T) {
		for writes, next := range []func() change{
			func() change { return s.move("production", "canary") },
			func() change { return s.regroup(40, "staging", "canary") },
			func() change { return s.swap("canary", "production") },
			func() change { return s.regroup(50, "production", "canary") },
			func() change { return s.move("canary", "staging") },
			func() change { return s.regroup(30, "staging", "production") },
			func() change { return s.move("production", "canary") },
			func() change { return s.regroup(50, "canary", "staging") },
		} {
			t.Run(fmt.Sprintf("after %d writes", writes), func(t *testing.T) { s.takeAndKill(t, next(), writes) })
		}
	})

	// The last revision shows that every ManifestWorkReplicaSet has nothing left to do.
	for set := range s.revisions {
		s.rollOut(t, set)
	}
	s.judge(t)
	t.Logf("%d events of ManifestWorks were judged", s.judged)
}

// misconfigure gives the placement a selector that no hub can evaluate, and waits until its status says so.
func (s *scene) misconfigure(t *testing.T) {
	t.Helper()

	// Admission lets only those mistakes pass that a policy cannot see.
	program.Must(t, s.respec(t.Context(), map[string]any{"predicates": []any{map[string]any{"requiredClusterSelector": map[string]any{
		"celSelector": map[string]any{"celExpressions": []string{"no expression"}},
	}}}}))
	eventually(t, "waiting for the condition", func() error { return s.expectMisconfigured(t.Context()) })
}

func (s *scene) expectMisconfigured(ctx context.Context) error {
	placement := &clusterv1beta1.Placement{}
	if err := s.api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: placementName}, placement); err != nil {
		return err
	}
	condition := meta.FindStatusCondition(placement.Status.Conditions, clusterv1beta1.PlacementConditionMisconfigured)
	if condition == nil || condition.ObservedGeneration != placement.Generation || condition.Status != metav1.ConditionTrue {
		return fmt.Errorf("condition is %v, want it to be True", condition)
	}
	return nil
}
