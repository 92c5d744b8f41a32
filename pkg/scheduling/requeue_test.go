// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// docs/architecture.md law 2: time alone changes no result before its RequeueAt.
func TestNothingChangesBeforeTheWakeUp(t *testing.T) {
	compiler := selector.NewCompiler()
	property.Check(t, func(t *rapid.T) {
		i := inventory.New(compiler)
		i.SetClusterSet(setOf("a", "", nil))
		i.SetClusterSet(setOf("b", "", nil))
		i.SetBinding(bindingOf("ns", "a"))
		i.SetBinding(bindingOf("ns", "b"))

		for n := range rapid.IntRange(1, 4).Draw(t, "clusters") {
			name := fmt.Sprintf("c%d", n)
			i.SetCluster(drawCluster(t, name))
			if rapid.Bool().Draw(t, "scored") {
				i.SetScores(drawScore(t, name))
			}
		}

		spec := drawSpec(t)
		spec.ClusterSets = nil
		spec.Tolerations = append(spec.Tolerations, clusterv1beta1.Toleration{
			Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(rapid.Int64Range(58, 62).Draw(t, "seconds")),
		})
		request := ConvertV1beta1(compiler, placementOf(spec))
		snapshot := i.Snapshot()

		first := Schedule(request, snapshot, map[string]bool{"c1": true}, now)
		until := now.Add(24 * time.Hour)
		if !first.RequeueAt.IsZero() {
			if !first.RequeueAt.After(now) {
				t.Fatalf("asks to be woken at %v, which is not after %v", first.RequeueAt, now)
			}
			until = first.RequeueAt.Add(-1)
		}

		last := Schedule(request, snapshot, map[string]bool{"c1": true}, until)
		if !last.RequeueAt.Equal(first.RequeueAt) {
			t.Fatalf("asks to be woken at %v, and at %v to be woken at %v", first.RequeueAt, until, last.RequeueAt)
		}
		if was, is := writtenParts(first), writtenParts(last); was != is {
			t.Fatalf("at %v it was\n%s\nand before the wake-up at %v it is\n%s", now, was, first.RequeueAt, is)
		}
	})
}

// docs/architecture.md law 6: a Placement whose CEL expressions cost too much is requeued when scores expire that they read, because they
// may cost less then.
func TestWhatCostsTooMuchIsTriedAgainWhenScoresExpire(t *testing.T) {
	until := metav1.NewTime(now.Add(time.Minute))
	items := make([]clusterv1alpha1.AddOnPlacementScoreItem, 0, 300)
	for n := range cap(items) {
		items = append(items, clusterv1alpha1.AddOnPlacementScoreItem{Name: strconv.Itoa(n), Value: 1})
	}
	w := newRandomHub()

	for n := range 80 {
		name := fmt.Sprintf("c%d", n)
		w.inventory.SetCluster(named(name))
		w.inventory.SetScores(scoreOf(name, "demo", &until, items...))
	}
	request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{Predicates: anyOf{
		byCEL(`managedCluster.scores("demo").all(s, managedCluster.scores("demo").size() > 0)`),
	}}))
	snapshot := w.inventory.Snapshot()

	for name, engine := range map[string]func(*Request, *inventory.Snapshot, Incumbents, time.Time) *Result{
		"indexed": Schedule, "reference": Reference,
	} {
		held := engine(request, snapshot, nil, now)
		expect(t, name+" is held", true, held.Outcome() != Decided)
		expect(t, name+" wakes at", until.Add(1), held.RequeueAt)
	}
	expect(t, "selected once the scores have expired", 80, len(Schedule(request, snapshot, nil, until.Add(1)).Selected))
}
