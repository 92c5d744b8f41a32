// SPDX-License-Identifier: Apache-2.0

package system

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// workJSON returns the work of a Deployment for a cluster as the API server sends it, with a payload of some 2 KiB, field managers, and the
// status of an agent.
func workJSON(tb testing.TB, object, cluster int) []byte {
	tb.Helper()
	var kind federation.FederatedKind
	for _, known := range federation.DefaultKinds() {
		if known.Kind == "Deployment" {
			kind = known
		}
	}

	payload := federation.NewPayload(kind, &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "team-a", "name": fmt.Sprintf("web-%03d", object)},
		"spec":     map[string]any{"replicas": int64(9), "template": map[string]any{"env": strings.Repeat("x", 2000)}},
	}})

	work, err := payload.Work(fmt.Sprintf("cluster-eu-west-%05d", cluster), federation.Variant{HasReplicas: true, Replicas: 3})
	if err != nil {
		tb.Fatal(err)
	}

	ready, now := int64(3), metav1.Now()
	applied := metav1.Condition{
		Type: workv1.WorkApplied, Status: metav1.ConditionTrue, Reason: "AppliedManifestWorkComplete", ObservedGeneration: 1,
		Message: "Apply manifest work complete", LastTransitionTime: now,
	}
	available := metav1.Condition{
		Type: workv1.WorkAvailable, Status: metav1.ConditionTrue, Reason: "ResourcesAvailable", ObservedGeneration: 1,
		Message: "All resources are available", LastTransitionTime: now,
	}

	work.UID, work.ResourceVersion, work.Generation = "5d6a4e0c-7d0f-4a38-8f5d-8b3a5b7a4d11", "123456789", 1
	work.Finalizers = []string{"cluster.open-cluster-management.io/manifest-work-cleanup"}
	work.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: federation.FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`),
	}}
	work.Status.Conditions = []metav1.Condition{applied, available}
	work.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{
		{
			ResourceMeta: workv1.ManifestResourceMeta{Version: "v1", Kind: "Namespace", Resource: "namespaces", Name: "team-a"},
			Conditions:   []metav1.Condition{applied, available},
		},
		{
			ResourceMeta: workv1.ManifestResourceMeta{
				Ordinal: 1, Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespace: "team-a", Name: "web",
			},
			Conditions: []metav1.Condition{applied, available},
			StatusFeedbacks: workv1.StatusFeedbackResult{Values: []workv1.FeedbackValue{
				{Name: "Replicas", Value: workv1.FieldValue{Type: workv1.Integer, Integer: &ready}},
				{Name: federation.ReadyReplicas, Value: workv1.FieldValue{Type: workv1.Integer, Integer: &ready}},
			}},
		},
	}

	encoded, err := json.Marshal(work)
	if err != nil {
		tb.Fatal(err)
	}
	return encoded
}

func decodedWork(tb testing.TB, encoded []byte) *workv1.ManifestWork {
	tb.Helper()
	work := &workv1.ManifestWork{}
	if err := json.Unmarshal(encoded, work); err != nil {
		tb.Fatal(err)
	}
	return work
}

// The cache has of a work what the controller reads, and of what two works have in common one copy.
func TestCompactKeepsTheHashOfAWork(t *testing.T) {
	transform := compact()
	var works []*workv1.ManifestWork
	for cluster := range 2 {
		encoded := workJSON(t, 0, cluster)
		want := decodedWork(t, encoded).Annotations[federation.HashAnnotation]

		got, err := transform(decodedWork(t, encoded))
		if err != nil {
			t.Fatal(err)
		}
		work, is := got.(*workv1.ManifestWork)
		if !is || federation.StoredHash(work) != want || federation.ReadyOf(work) != 3 || work.Labels != nil ||
			len(work.ManagedFields) != 1 || work.ManagedFields[0].FieldsV1 != nil {
			t.Fatalf("transformed is %+v, want a compact work with the hash %s", got, want)
		}

		once := work.DeepCopy()
		if again, err := transform(work); err != nil || again != any(work) || !cmp.Equal(once, work) {
			t.Errorf("transformed again: %+v, %v", again, err)
		}
		works = append(works, work)
	}

	if unsafe.StringData(federation.StoredHash(works[0])) != unsafe.StringData(federation.StoredHash(works[1])) {
		t.Error("there are two copies of the hash")
	}
	if unsafe.StringData(works[0].Name) != unsafe.StringData(works[1].Name) {
		t.Error("there are two copies of the name")
	}
}

// maxWorkBytes is what one work may take in the cache: 100,000 of them are less than 200 MB.
const maxWorkBytes = 2048

// The cache has room for 100,000 works: each takes a bounded part of it, however large its payload is.
func TestAWorkTakesLittleOfTheCache(t *testing.T) {
	if size := bytesPerWork(t, 40, 50); size > maxWorkBytes {
		t.Errorf("a work takes %d bytes of the cache, want at most %d", size, maxWorkBytes)
	}
}

// BenchmarkCacheOfWorks tells the bytes that one work takes in the cache of a hub.
func BenchmarkCacheOfWorks(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(bytesPerWork(b, 500, 50)), "heap-B/work")
	}
}

// bytesPerWork returns what one of the works of objects takes in a cache, each for a number of clusters.
func bytesPerWork(tb testing.TB, objects, clusters int) int {
	tb.Helper()
	transform := compact()
	before := heap()
	store := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{
		toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc,
	})

	for object := range objects {
		for cluster := range clusters {
			work, err := transform(decodedWork(tb, workJSON(tb, object, cluster)))
			if err == nil {
				err = store.Add(work)
			}
			if err != nil {
				tb.Fatal(err)
			}
		}
	}

	after := heap()
	runtime.KeepAlive(store)
	runtime.KeepAlive(transform)
	return int(after-before) / (objects * clusters)
}

// Of all ManifestWorks the cache has those of the hub, and a hub that delivers nothing asks for none: it may not have the kind.
func TestWorksInTheCache(t *testing.T) {
	for object := range (Options{Controllers: []string{"*"}}).CacheOptions().ByObject {
		if _, isWork := object.(*workv1.ManifestWork); isWork {
			t.Error("a hub that delivers nothing asks for ManifestWorks")
		}
	}
	work := decodedWork(t, workJSON(t, 0, 0))
	if settings := managedWorks(); !settings.Label.Matches(labels.Set(work.Labels)) || settings.Label.Matches(labels.Set{"of": "others"}) {
		t.Errorf("the cache has works with %s", settings.Label)
	}
}
