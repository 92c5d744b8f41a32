// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

// storedWork returns the work of a Deployment with five replicas as the API server stores it, with the finalizer and the status of an agent.
func storedWork(t *testing.T) (Identity, *workv1.ManifestWork) {
	t.Helper()
	object := objectOf(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: team-a}, spec: {replicas: 9}}`)

	_, payload := BodyOf(kindOf(kindDeployment), object)

	work, err := payload.Work("c1", Variant{HasReplicas: true, Replicas: 5})
	if err != nil {
		t.Fatal(err)
	}

	work.UID, work.ResourceVersion, work.Generation = "9d2b", "17", 2
	work.Finalizers = []string{"cluster.open-cluster-management.io/manifest-work-cleanup"}
	work.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "work", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status"},
		{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)},
	}
	work.Annotations["example.com/note"] = "of somebody"
	work.Status.Conditions = []metav1.Condition{
		{Type: workv1.WorkApplied, Status: metav1.ConditionTrue, ObservedGeneration: 2, Message: "all is well", LastTransitionTime: metav1.Now()},
		{Type: workv1.WorkAvailable, Status: metav1.ConditionFalse, ObservedGeneration: 1, Reason: "Missing", Message: "one is missing"},
		{Type: workv1.WorkProgressing, Status: metav1.ConditionTrue},
	}
	ready := int64(3)
	work.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{
		{
			ResourceMeta: workv1.ManifestResourceMeta{Ordinal: 0, Version: "v1", Kind: "Namespace", Resource: "namespaces", Name: "team-a"},
			Conditions:   []metav1.Condition{{Type: workv1.ManifestApplied, Status: metav1.ConditionTrue}},
		},
		{
			ResourceMeta: workv1.ManifestResourceMeta{Ordinal: 1, Group: groupApps, Resource: "deployments", Namespace: "team-a", Name: "web"},
			Conditions: []metav1.Condition{
				{Type: workv1.ManifestApplied, Status: metav1.ConditionTrue},
				{Type: workv1.ManifestAvailable, Status: metav1.ConditionFalse, Message: "not found"},
			},
			StatusFeedbacks: workv1.StatusFeedbackResult{Values: []workv1.FeedbackValue{
				{Name: "AvailableReplicas", Value: workv1.FieldValue{Type: workv1.Integer, Integer: &ready}},
				{Name: ReadyReplicas, Value: workv1.FieldValue{Type: workv1.Integer, Integer: &ready}},
			}},
		},
	}

	return payload.Identity(), work
}

// What the controller reads of a work is the same before and after.
func TestCompactWorkChangesNothingThatIsRead(t *testing.T) {
	conflict := metav1.Condition{Type: workv1.ManifestApplied, Status: metav1.ConditionFalse, Message: `conflict with "helm": .spec.replicas`}
	deleted := metav1.Now()
	for _, tc := range []struct {
		reason string
		edit   func(*workv1.ManifestWork)
	}{
		{"as the hub wrote it", func(*workv1.ManifestWork) {}},
		{"not reported yet", func(w *workv1.ManifestWork) { w.Status = workv1.ManifestWorkStatus{} }},
		{"federated-selector F18: a conflict", func(w *workv1.ManifestWork) {
			w.Status.Conditions[0].Status = metav1.ConditionFalse
			w.Status.ResourceStatus.Manifests[1].Conditions = []metav1.Condition{conflict}
		}},
		{"a failure of the whole work", func(w *workv1.ManifestWork) { w.Status.Conditions[0].Status = metav1.ConditionFalse }},
		{"federated-selector F22: orphaned", func(w *workv1.ManifestWork) {
			w.Spec.DeleteOption = deleteOption(workv1.ResourceIdentifier{}, true)
		}},
		{"federated-selector F31: edited by somebody", func(w *workv1.ManifestWork) { w.Spec.ManifestConfigs = nil }},
		{"federated-selector F31: a label is gone", func(w *workv1.ManifestWork) { delete(w.Labels, NameLabel) }},
		{"federated-selector 3.1.4: not ours", func(w *workv1.ManifestWork) { w.Annotations = nil }},
		{"being deleted", func(w *workv1.ManifestWork) { w.DeletionTimestamp = &deleted }},
		{"federated-selector F42: restored", func(w *workv1.ManifestWork) {
			w.CreationTimestamp = metav1.NewTime(deleted.Add(time.Hour))
			w.ManagedFields = []metav1.ManagedFieldsEntry{
				{Manager: "velero", Time: &deleted},
				{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply, Time: &deleted},
			}
		}},
		{"the clusters that a Placement has selected", func(w *workv1.ManifestWork) {
			w.Status.ResourceStatus.Manifests[1].StatusFeedbacks.Values[1].Name = SelectedClusters
		}},
		{"without manifests", func(w *workv1.ManifestWork) { w.Spec.Workload.Manifests = nil }},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			identity, work := storedWork(t)
			tc.edit(work)
			want, err := ExistingWorkOf(identity, work)
			if err != nil {
				t.Fatal(err)
			}
			stored := work.DeepCopy()
			CompactWork(work)

			got, err := ExistingWorkOf(identity, work)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("existing work (-want +got):\n%s%v", diff, err)
			}
			if hash := StoredHash(work); hash == "" || hash != StoredHash(stored) {
				t.Errorf("hash %q, want %q", hash, StoredHash(stored))
			}

			if work.UID != stored.UID || work.ResourceVersion != stored.ResourceVersion || work.Generation != stored.Generation ||
				!cmp.Equal(work.Finalizers, stored.Finalizers) || !cmp.Equal(work.DeletionTimestamp, stored.DeletionTimestamp) {
				t.Errorf("identity and version of %v", work.ObjectMeta)
			}
		})
	}
}

func TestCompactWorkDropsTheRest(t *testing.T) {
	_, work := storedWork(t)
	CompactWork(work)

	ready := int64(3)
	want := &workv1.ManifestWork{
		TypeMeta: work.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "c1", Name: work.Name, UID: "9d2b", ResourceVersion: "17", Generation: 2, Finalizers: work.Finalizers,
			Annotations:   map[string]string{ObjectAnnotation: "Deployment.apps/team-a/web"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply}},
		},
		Spec: workv1.ManifestWorkSpec{
			Workload:     work.Spec.Workload,
			DeleteOption: &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeSelectivelyOrphan},
		},
		Status: workv1.ManifestWorkStatus{
			Conditions: []metav1.Condition{
				{Type: workv1.WorkApplied, Status: metav1.ConditionTrue, ObservedGeneration: 2},
				{Type: workv1.WorkAvailable, Status: metav1.ConditionFalse, ObservedGeneration: 1, Reason: "Missing", Message: "one is missing"},
			},
			ResourceStatus: workv1.ManifestResourceStatus{Manifests: []workv1.ManifestCondition{{
				ResourceMeta: workv1.ManifestResourceMeta{Resource: "deployments", Namespace: "team-a", Name: "web"},
				Conditions:   []metav1.Condition{{Type: workv1.ManifestAvailable, Status: metav1.ConditionFalse, Message: "not found"}},
				StatusFeedbacks: workv1.StatusFeedbackResult{Values: []workv1.FeedbackValue{
					{Name: ReadyReplicas, Value: workv1.FieldValue{Type: workv1.Integer, Integer: &ready}},
				}},
			}}},
		},
	}

	if diff := cmp.Diff(want, work); diff != "" {
		t.Errorf("compact work (-want +got):\n%s", diff)
	}
	if manifests := work.Spec.Workload.Manifests; len(manifests) != 1 || manifests[0].Raw != nil {
		t.Errorf("it has the manifests %v", manifests)
	}
}

// An informer may transform an object that it has shared already, and a cache hands out copies.
func TestCompactWorkTwiceIsOnce(t *testing.T) {
	_, work := storedWork(t)
	CompactWork(work)
	once := work.DeepCopy()
	CompactWork(work)
	for _, again := range []*workv1.ManifestWork{work, once} {
		CompactWork(again)
		if diff := cmp.Diff(once, again); diff != "" || !IsCompactWork(again) {
			t.Errorf("compacted again (-want +got):\n%s", diff)
		}
	}
}

// Nobody can have the hub believe in a hash by writing what a compact work looks like.
func TestNobodyCanPretendACompactWork(t *testing.T) {
	_, work := storedWork(t)
	want := StoredHash(work)
	CompactWork(work)
	encoded, err := json.Marshal(work)
	if err != nil {
		t.Fatal(err)
	}

	pretended := &workv1.ManifestWork{}
	if err := json.Unmarshal(encoded, pretended); err != nil {
		t.Fatal(err)
	}
	if IsCompactWork(pretended) || StoredHash(pretended) == want {
		t.Error("a work from the API server counts as compact")
	}
	CompactWork(pretended)

	if StoredHash(pretended) == want {
		t.Error("the hash is the pretended one")
	}
}

// A work that cannot be hashed is written again, because its hash is no work's.
func TestCompactWorkWithoutAHash(t *testing.T) {
	identity, work := storedWork(t)
	work.Spec.Workload.Manifests[1].Raw = []byte("{")
	CompactWork(work)
	existing, err := ExistingWorkOf(identity, work)
	if err != nil || existing.Hash != "" || existing.Replicas != 0 || existing.Foreign {
		t.Errorf("%+v, %v, want a work of the object without a hash", existing, err)
	}

	plan := PlanWorks([]WantedWork{{Cluster: "c1", Hash: "any"}}, []ExistingWork{existing})
	if diff := cmp.Diff([]string{"c1"}, plan.Gain); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

func TestMessagesOfCompactWorksAreCut(t *testing.T) {
	_, work := storedWork(t)
	work.Status.Conditions[1].Message = strings.Repeat("ü", 1000)
	work.Status.ResourceStatus.Manifests[1].Conditions[1].Message = strings.Repeat("x", 257)
	CompactWork(work)
	for _, message := range []string{work.Status.Conditions[1].Message, work.Status.ResourceStatus.Manifests[0].Conditions[0].Message} {
		if len(message) > 256 || len(message) < 250 || !utf8.ValidString(message) || !strings.HasSuffix(message, "...") {
			t.Errorf("%d bytes: %s", len(message), message)
		}
	}

	_, whole := storedWork(t)
	whole.Status.Conditions[1].Message = strings.Repeat("x", 256)
	CompactWork(whole)
	if got := whole.Status.Conditions[1].Message; got != strings.Repeat("x", 256) {
		t.Errorf("a message of 256 bytes is cut: %s", got)
	}
}

// The mark of fields that could not be decoded stays, so that the hub warns of them.
func TestCompactWorkKeepsTheMark(t *testing.T) {
	_, work := storedWork(t)
	if err := unreadable.Mark(work, unreadable.Fields{{Path: "status.conditions", Value: "1", Problem: "is wrong"}}); err != nil {
		t.Fatal(err)
	}
	CompactWork(work)
	if fields := unreadable.Of(work); len(fields) != 1 || fields[0].Path != "status.conditions" {
		t.Errorf("unreadable are %v", fields)
	}
}

// A work after a write whose response has only the metadata is the compact one of the API server, whether the last one is compact or not. The
// status of another work, which had the name before, does not count.
func TestWrittenWork(t *testing.T) {
	identity, stored := storedWork(t)
	if err := unreadable.Mark(stored, unreadable.Fields{{Path: "status.conditions", Value: "1", Problem: "is wrong"}}); err != nil {
		t.Fatal(err)
	}
	compact := stored.DeepCopy()
	CompactWork(compact)
	answer := *stored.ObjectMeta.DeepCopy()
	delete(answer.Annotations, unreadable.Annotation)
	answer.ResourceVersion, answer.Generation = "18", 3

	want := compact.DeepCopy()
	want.TypeMeta, want.ResourceVersion, want.Generation = metav1.TypeMeta{}, "18", 3
	for name, last := range map[string]*workv1.ManifestWork{"stored": stored, "compact": compact} {
		if diff := cmp.Diff(want, WrittenWork(answer, &stored.Spec, last)); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
	}
	if _, marked := answer.Annotations[unreadable.Annotation]; marked {
		t.Error("the response was changed")
	}

	answer.UID = "another"
	for name, last := range map[string]*workv1.ManifestWork{"of another work": stored, "of none": nil} {
		written := WrittenWork(answer, &stored.Spec, last)
		if len(written.Status.Conditions) > 0 || !identity.Owns(written) || StoredHash(written) != StoredHash(stored) {
			t.Errorf("with the status %s: %+v", name, written)
		}
	}
}

// Two works of one object have hardly a string of their own.
func TestInternWork(t *testing.T) {
	known := map[string]int{}
	intern := func(texts ...*string) {
		for _, text := range texts {
			known[*text]++
			*text = "~" + *text
		}
	}

	for range 2 {
		_, work := storedWork(t)
		CompactWork(work)
		InternWork(work, intern)
		for reason, text := range map[string]string{
			"namespace": work.Namespace, "name": work.Name, "hash": StoredHash(work), "object": work.Annotations[ObjectAnnotation],
			"finalizer": work.Finalizers[0], "reason": work.Status.Conditions[1].Reason, "status": string(work.Status.Conditions[0].Status),
			"resource": work.Status.ResourceStatus.Manifests[0].ResourceMeta.Resource,
			"message":  work.Status.ResourceStatus.Manifests[0].Conditions[0].Message,
			"feedback": work.Status.ResourceStatus.Manifests[0].StatusFeedbacks.Values[0].Name,
		} {
			if !strings.HasPrefix(text, "~") {
				t.Errorf("the %s %q was not interned", reason, text)
			}
		}
	}

	for text, times := range maps.All(known) {
		if times < 2 {
			t.Errorf("%q is in one work only", text)
		}
	}
}

func BenchmarkCompactWork(b *testing.B) {
	payload := &Payload{kind: kindOf(kindConfigMap), namespace: "team-a", name: "settings", content: map[string]any{
		"apiVersion": versionV1, "kind": kindConfigMap, "metadata": map[string]any{"name": "settings", "namespace": "team-a"},
		"data": map[string]any{"a": strings.Repeat("x", 4096)},
	}}

	work, err := payload.Work("c1", Variant{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		copied := *work
		CompactWork(&copied)
	}
}

var _ runtime.Object = (*digest)(nil)
