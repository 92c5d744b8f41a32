// SPDX-License-Identifier: Apache-2.0

package precomputed

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/system"
)

// Writer sends decisions: for each page a creation, unless it has a resource version, and a patch of its decisions, and then a patch of the
// placement's status, with the preconditions that the hub sends, and asks for as little of the response. It remembers the versions that come
// back.
type Writer struct {
	client   client.Client
	versions sync.Map // identity by types.UID of the objects that the decisions were read from
}

// identity is what a precondition names.
type identity struct {
	uid     types.UID
	version string
}

// NewWriter returns a writer that expects the pages that have a resource version as they are in the decisions, and creates the others.
func NewWriter(c client.Client) *Writer { return &Writer{client: c} }

// Write sends decisions, as many at a time as the hub has workers.
func (w *Writer) Write(ctx context.Context, all []Decisions) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(system.DefaultWorkers())
	for i := range all {
		group.Go(func() error { return w.write(ctx, &all[i]) })
	}
	return group.Wait() //nolint:wrapcheck // The tasks name what they do.
}

func (w *Writer) write(ctx context.Context, a *Decisions) error {
	for i := range a.Pages {
		page := &a.Pages[i]
		if page.ResourceVersion == "" {
			created := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
				Namespace: page.Namespace, Name: page.Name, Labels: page.Labels, OwnerReferences: page.OwnerReferences,
			}}
			if err := w.client.Create(ctx, created); err != nil {
				return fmt.Errorf("creating PlacementDecision %s/%s: %w", page.Namespace, page.Name, err)
			}
			w.versions.Store(page.UID, identity{uid: created.UID, version: created.ResourceVersion})
		}
		if err := w.patch(ctx, "PlacementDecision", page, page.Status); err != nil {
			return err
		}
	}
	return w.patch(ctx, "Placement", &a.Placement, a.Placement.Status)
}

// patch writes the status of an object of a Decisions. As for the hub, the response has the metadata alone.
func (w *Writer) patch(ctx context.Context, kind string, object client.Object, status any) error {
	known, found := w.versions.Load(object.GetUID())
	last, ok := known.(identity)
	if !found || !ok {
		last = identity{uid: object.GetUID(), version: object.GetResourceVersion()}
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": last.uid, "resourceVersion": last.version}, "status": status,
	})
	if err != nil {
		return fmt.Errorf("encoding the status of %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
	}
	written := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()}}
	written.SetGroupVersionKind(schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind(kind))
	if err := w.client.Status().Patch(ctx, written, client.RawPatch(types.MergePatchType, body)); err != nil {
		return fmt.Errorf("writing the status of %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
	}
	w.versions.Store(object.GetUID(), identity{uid: written.GetUID(), version: written.GetResourceVersion()})
	return nil
}
