// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

func TestExistingWorkOf(t *testing.T) {
	object := objectOf(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: team-a}, spec: {replicas: 9}}`)

	_, payload := BodyOf(kindOf(kindDeployment), object)

	deleted := metav1.Now()
	applied := func(status metav1.ConditionStatus, generation int64) []metav1.Condition {
		return []metav1.Condition{{Type: workv1.WorkApplied, Status: status, ObservedGeneration: generation, Message: "of the work"}}
	}
	value := func(name string, number int64) workv1.FeedbackValue {
		return workv1.FeedbackValue{Name: name, Value: workv1.FieldValue{Type: workv1.Integer, Integer: &number}}
	}
	feedback := func(values ...workv1.FeedbackValue) []workv1.ManifestCondition {
		return []workv1.ManifestCondition{{}, {StatusFeedbacks: workv1.StatusFeedbackResult{Values: values}}}
	}
	writtenAt := func(at metav1.Time) []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply, Time: &at}}
	}
	conflict := workv1.ManifestCondition{
		ResourceMeta: workv1.ManifestResourceMeta{Resource: "deployments", Namespace: "team-a", Name: "web"},
		Conditions: []metav1.Condition{{
			Type: workv1.ManifestApplied, Status: metav1.ConditionFalse, Message: `conflict with "helm": .spec.replicas`,
		}},
	}
	for _, c := range []struct {
		name string
		edit func(*workv1.ManifestWork)
		want ExistingWork
	}{
		{"not reported yet", func(*workv1.ManifestWork) {}, ExistingWork{}},
		{"applied", func(w *workv1.ManifestWork) { w.Status.Conditions = applied(metav1.ConditionTrue, 2) },
			ExistingWork{Applied: metav1.ConditionTrue}},
		{"reported about an older generation", func(w *workv1.ManifestWork) { w.Status.Conditions = applied(metav1.ConditionTrue, 1) },
			ExistingWork{}},
		{"federated-selector F18: a conflict of a manifest", func(w *workv1.ManifestWork) {
			w.Status.Conditions = applied(metav1.ConditionFalse, 2)
			w.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{conflict}
		}, ExistingWork{Applied: metav1.ConditionFalse, Problem: `deployments team-a/web: conflict with "helm": .spec.replicas`}},
		{"a problem without a manifest", func(w *workv1.ManifestWork) { w.Status.Conditions = applied(metav1.ConditionFalse, 2) },
			ExistingWork{Applied: metav1.ConditionFalse, Problem: "of the work"}},
		{"federated-selector F22: orphaned", func(w *workv1.ManifestWork) { w.Spec.DeleteOption = deleteOption(workv1.ResourceIdentifier{}, true) },
			ExistingWork{Orphan: true}},
		{"the clusters that a Placement has selected", func(w *workv1.ManifestWork) {
			w.Status.ResourceStatus.Manifests = feedback(workv1.FeedbackValue{Name: SelectedClusters}, value(SelectedClusters, 4))
		}, ExistingWork{Selected: new(int32(4))}},
		{"trust T8: more ready replicas than there can be", func(w *workv1.ManifestWork) {
			w.Status.ResourceStatus.Manifests = feedback(value("AvailableReplicas", 2), value(ReadyReplicas, math.MaxInt32+1))
		}, ExistingWork{Ready: math.MaxInt32}},
		{"trust T8: fewer than no ready replica", func(w *workv1.ManifestWork) {
			w.Status.ResourceStatus.Manifests = feedback(value(ReadyReplicas, -1))
		}, ExistingWork{}},
		{"being deleted", func(w *workv1.ManifestWork) {
			w.DeletionTimestamp, w.Finalizers = &deleted, []string{"d/d", "b/b", "c/c", "a/a", "e/e"}
		}, ExistingWork{Deleting: true, DeletedAt: deleted, KeptBy: "a/a, b/b, c/c and 2 more"}},
		{"being deleted, with as many finalizers as are named", func(w *workv1.ManifestWork) {
			w.DeletionTimestamp, w.Finalizers = &deleted, []string{"b/b", "c/c", "a/a"}
		}, ExistingWork{Deleting: true, DeletedAt: deleted, KeptBy: "a/a, b/b, c/c"}},
		{"federated-selector F42: created after the hub has written it", func(w *workv1.ManifestWork) {
			w.ManagedFields = writtenAt(deleted)
			w.CreationTimestamp = metav1.NewTime(deleted.Add(creationTime + time.Nanosecond))
		}, ExistingWork{Restored: true}},
		{"federated-selector F42: created by the hub, with slow webhooks", func(w *workv1.ManifestWork) {
			w.ManagedFields = writtenAt(deleted)
			w.CreationTimestamp = metav1.NewTime(deleted.Add(creationTime))
		}, ExistingWork{}},
		{"reported by an agent that names no generation", func(w *workv1.ManifestWork) { w.Status.Conditions = applied(metav1.ConditionTrue, 0) },
			ExistingWork{Applied: metav1.ConditionTrue}},
		{"federated-selector 3.1.4: not ours", func(w *workv1.ManifestWork) { w.Annotations = nil }, ExistingWork{Foreign: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			work, err := payload.Work("c1", Variant{HasReplicas: true, Replicas: 5})
			if err != nil {
				t.Fatal(err)
			}
			work.Generation = 2
			c.edit(work)
			got, err := ExistingWorkOf(payload.Identity(), work)
			if err != nil {
				t.Fatal(err)
			}

			if got.Hash == "" {
				t.Error("no hash")
			}
			c.want.Cluster, c.want.Replicas, c.want.Hash = "c1", 5, got.Hash
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Works are read in their order, and an error names the work that cannot be read.
func TestExistingWorksOf(t *testing.T) {
	payload := NewPayload(kindOf(kindConfigMap), objectOf(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ns}}`))
	var works []*workv1.ManifestWork
	for _, cluster := range []string{"us1", "eu1"} {
		work, err := payload.Work(cluster, Variant{})
		if err != nil {
			t.Fatal(err)
		}
		works = append(works, work)
	}
	got, err := ExistingWorksOf(payload.Identity(), works)
	hash := works[0].Annotations[HashAnnotation]
	want := []ExistingWork{{Cluster: "us1", Hash: hash}, {Cluster: "eu1", Hash: hash}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	works[1].Spec.Workload.Manifests[0].Raw = []byte("{")
	got, err = ExistingWorksOf(payload.Identity(), works)
	if err == nil || !strings.HasPrefix(err.Error(), "ManifestWork eu1/"+works[1].Name+": ") || len(got) > 0 {
		t.Errorf("a work that cannot be read: %v, %v", got, err)
	}
}

func TestDecisionsOf(t *testing.T) {
	deleted := metav1.Now()
	pages := [][]string{{"eu2", "eu1"}, {"us1"}}
	for _, c := range []struct {
		name      string
		placement *metav1.ObjectMeta
		pages     [][]string
		want      Decisions
	}{
		{"federated-selector F38: missing", nil, pages, Decisions{Problem: "does not exist"}},
		{"federated-selector 3.1.4: being deleted", &metav1.ObjectMeta{DeletionTimestamp: &deleted}, pages, Decisions{Problem: "is being deleted"}},
		{"federated-selector 3.1.4: no decision yet", &metav1.ObjectMeta{}, nil, Decisions{Problem: "has no decision yet"}},
		{"an empty decision selects nothing", &metav1.ObjectMeta{}, [][]string{{}}, Decisions{Clusters: []string{}}},
		{"sorted", &metav1.ObjectMeta{}, pages, Decisions{Clusters: []string{"eu1", "eu2", "us1"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := DecisionsOf(c.placement, c.pages)
			if diff := cmp.Diff(c.want, got); diff != "" && len(got.Clusters)+len(c.want.Clusters) > 0 || got.Problem != c.want.Problem {
				t.Error(diff)
			}
		})
	}
}

// Issue 26, P9: of several similar names it is the nearest one, whatever their order.
func TestMissingPlacement(t *testing.T) {
	for _, names := range [][]string{{"canary", "canaries", "web"}, {"web", "canaries", "canary"}} {
		if got := MissingPlacement("canray", names); got.Problem != "does not exist" || got.Similar != "canary" {
			t.Errorf("%+v of %v", got, names)
		}
	}
	if got := MissingPlacement("canray", []string{"web"}); got.Similar != "" {
		t.Errorf("%+v", got)
	}
}

func TestBudgetOf(t *testing.T) {
	for _, c := range []struct {
		name, percent string
		hub, want     int
		mistake       bool
	}{
		{"federated-selector 3.1.4: that of the hub", "", 30, 30, false},
		{"federated-selector 3.1.4: the annotation wins", "50", 30, 50, false},
		{"with a sign", "50%", 30, 50, false},
		{"a mistake leaves the limit of the hub", "half", 30, 30, true},
		{"a mistake allows nothing without one", "101", removalbudget.NoLimit, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			annotations := map[string]string{removalbudget.ReleaseAnnotation: "7"}
			if c.percent != "" {
				annotations[removalbudget.PercentAnnotation] = c.percent
			}
			limits := Limits{Percent: c.hub, ScopeHold: time.Minute, KeepLast: true}
			budget, mistake := BudgetOf(annotations, limits)
			if budget != (Budget{Percent: c.want, Release: "7", Hub: limits}) || (mistake != "") != c.mistake {
				t.Errorf("%+v, %q", budget, mistake)
			}
		})
	}
}
