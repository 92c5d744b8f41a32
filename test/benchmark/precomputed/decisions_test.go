// SPDX-License-Identifier: Apache-2.0

package precomputed

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// recorder is an API server that remembers the requests.
type recorder struct {
	t        *testing.T
	requests []string
}

func (r *recorder) client(objects ...client.Object) client.Client {
	scheme := runtime.NewScheme()
	if err := clusterv1beta1.Install(scheme); err != nil {
		r.t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(
		&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{},
	).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			r.requests = append(r.requests, "create "+object.GetName())
			err := c.Create(ctx, object, options...)
			object.SetUID(types.UID("new " + object.GetName()))
			return err
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, of string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption,
		) error {
			if _, is := object.(*metav1.PartialObjectMetadata); !is {
				r.t.Errorf("%s: the response is read as %T, want metadata alone", object.GetName(), object)
			}
			body, err := patch.Data(object)
			if err != nil {
				r.t.Fatal(err)
			}
			var sent struct{ Metadata metav1.ObjectMeta }
			if err := json.Unmarshal(body, &sent); err != nil {
				r.t.Fatal(err)
			}
			r.requests = append(r.requests, "patch "+object.GetName()+" "+of+" of "+string(sent.Metadata.UID)+" at "+sent.Metadata.ResourceVersion)
			// The fake client has no uids of its own.
			patched := object.DeepCopyObject().(client.Object)
			err = c.SubResource(of).Patch(ctx, patched, client.RawPatch(types.MergePatchType, []byte(`{"status":{}}`)), options...)
			object.SetUID(sent.Metadata.UID)
			object.SetResourceVersion(sent.Metadata.ResourceVersion + "+")
			return err
		},
	}).Build()
}

func sample() Decisions {
	page := clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p-decision-1", UID: "page", ResourceVersion: "7"}}
	page.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "c1"}}
	return Decisions{
		Placement: clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "placement", ResourceVersion: "5"}},
		Pages:     []clusterv1beta1.PlacementDecision{page},
	}
}

func TestTheWriterSendsWhatTheHubSends(t *testing.T) {
	a := sample()
	placement := a.Placement.DeepCopy()
	placement.ResourceVersion = ""
	page := a.Pages[0].DeepCopy()
	page.ResourceVersion = ""
	for _, tc := range []struct {
		reason  string
		version string // of the page
		there   []client.Object
		want    []string
	}{
		{
			reason: "a cold start: the page is created, filled by what came back, and then the placement tells",
			there:  []client.Object{placement},
			want:   []string{"create p-decision-1", "patch p-decision-1 status of new p-decision-1 at 1", "patch p status of placement at 5"},
		},
		{
			reason:  "a change, twice: the second time at the versions that came back",
			version: "7", there: []client.Object{placement, page},
			want: []string{
				"patch p-decision-1 status of page at 7", "patch p status of placement at 5",
				"patch p-decision-1 status of page at 7+", "patch p status of placement at 5+",
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			r := &recorder{t: t}
			w := NewWriter(r.client(tc.there...))
			written := a
			written.Pages = slices.Clone(a.Pages)
			written.Pages[0].ResourceVersion = tc.version
			for len(r.requests) < len(tc.want) {
				if err := w.Write(t.Context(), []Decisions{written}); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, r.requests); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestScriptSurvivesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decisions.json")
	script := &Script{Cluster: "c1", Label: "l", ByValue: map[string][]Decisions{"": {sample()}, "yes": nil}}
	if err := script.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(script, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
