// SPDX-License-Identifier: Apache-2.0

package precomputed

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func sampleWork() *workv1.ManifestWork {
	return &workv1.ManifestWork{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "c1", Name: "w", UID: "stored", ResourceVersion: "7", Labels: map[string]string{"a": "b"},
			Annotations: map[string]string{"hash": "1"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: workManager}},
		},
		Spec: workv1.ManifestWorkSpec{DeleteOption: &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeOrphan}},
	}
}

func TestTheWorkWriterSendsWhatTheHubSends(t *testing.T) {
	var (
		mu       sync.Mutex
		requests []string
	)
	note := func(request string) {
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, request)
	}
	api := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			body, err := patch.Data(object)
			if err != nil {
				t.Fatal(err)
			}
			sent := &workv1.ManifestWork{}
			if err := json.Unmarshal(body, sent); err != nil {
				t.Fatal(err)
			}
			wanted := sampleWork()
			wanted.UID, wanted.ResourceVersion, wanted.ManagedFields = "", "", nil
			wanted.TypeMeta = metav1.TypeMeta{APIVersion: "work.open-cluster-management.io/v1", Kind: "ManifestWork"}
			if diff := cmp.Diff(wanted, sent); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			applied := (&client.PatchOptions{}).ApplyOptions(options)
			if patch.Type() != types.ApplyPatchType || applied.Force == nil || !*applied.Force || applied.FieldManager != workManager {
				t.Errorf("%s with %+v", patch.Type(), applied)
			}
			note("apply " + object.GetNamespace() + "/" + object.GetName())
			return nil
		},
		Delete: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.DeleteOption) error {
			note("delete " + object.GetNamespace() + "/" + object.GetName())
			return nil
		},
	}).Build()
	works := Works{Apply: []workv1.ManifestWork{Applied(sampleWork())}, Delete: []types.NamespacedName{{Namespace: "c2", Name: "w"}}}
	if err := NewWorkWriter(api).Write(t.Context(), works); err != nil {
		t.Fatal(err)
	}
	slices.Sort(requests)
	if diff := cmp.Diff([]string{"apply c1/w", "delete c2/w"}, requests); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWorkScriptSurvivesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "works.json")
	script := &WorkScript{Cluster: "c1", Label: "l", ByValue: map[string]Works{
		"":     {Apply: []workv1.ManifestWork{Applied(sampleWork())}},
		"away": {Delete: []types.NamespacedName{{Namespace: "c1", Name: "w"}}},
	}}
	if err := script.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadWorkFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(script, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
