// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// The response to a patch of a page has only metadata, and the Writer still returns the page as the API server has it.
func TestPatchesReturnMetadata(t *testing.T) {
	plan, objects := four()

	server, ok := newServer(t, objects...).Client.(client.WithWatch)
	if !ok {
		t.Fatal("the fake client cannot be intercepted")
	}

	patches := 0
	check := func(object client.Object) {
		patches++
		if _, ok := object.(*metav1.PartialObjectMetadata); !ok {
			t.Errorf("the answer to the patch of %s is a %T", object.GetName(), object)
		}
	}
	asked := interceptor.NewClient(server, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			check(object)
			return c.Patch(ctx, object, patch, opts...)
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			check(object)
			return c.SubResource(name).Patch(ctx, object, patch, opts...)
		},
	})

	var told []string
	written, err := Writer{Client: asked}.Write(t.Context(), plan, observer(&told))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "patches", 4, patches)
	expect(t, "pages", 3, len(written))

	for name, page := range written {
		stored := plan.Codec.Empty()
		if err := server.Get(t.Context(), client.ObjectKey{Namespace: page.Namespace, Name: name}, stored); err != nil {
			t.Fatal(err)
		}
		want := plan.Codec.Read(stored)
		expect(t, name+": decisions", want.Decisions, page.Decisions)
		expect(t, name+": metadata", []any{want.UID, want.ResourceVersion, want.Labels, want.OwnerReferences},
			[]any{page.UID, page.ResourceVersion, page.Labels, page.OwnerReferences})
	}
}

// The scheduler name of a page is the one that was sent, and stays when only labels were updated.
func TestPatchedPagesSayWhoTheyAreFrom(t *testing.T) {
	codec := api.V1beta1.Codec()
	current := edited(page(1, 0, "", "c-1"), func(p *api.Page) { p.Scheduler = "somebody" })
	desired := page(1, 0, "", "c-2")
	mended := patched(codec, request{action: ActionUpdateMetadata}, current, desired, desired.ObjectMeta)
	expect(t, "mended", []string{"somebody", "c-1"}, []string{mended.Scheduler, clustersOf(mended)})
	filled := patched(codec, request{action: ActionUpdateDecisions}, current, desired, desired.ObjectMeta)
	expect(t, "filled", []string{"", "c-2"}, []string{filled.Scheduler, clustersOf(filled)})
}
