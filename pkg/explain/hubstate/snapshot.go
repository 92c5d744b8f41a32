// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/snapshot"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// SnapshotOptions say what a snapshot has.
type SnapshotOptions struct {
	// Namespace is that of the objects; empty for all.
	Namespace string
	// Delivered are the kinds that the hub delivers to clusters.
	Delivered []federation.FederatedKind
	// Controllers are those that the hub says it runs.
	Controllers []string
	// Now is the present time.
	Now time.Time
}

// TakeSnapshot reads a snapshot. What its user may not read, and what the hub does not serve, is in the Header. The error is one of a request
// that failed for another reason.
func TakeSnapshot(ctx context.Context, hub client.Reader, options SnapshotOptions) (*snapshot.Snapshot, error) {
	t := &taker{SnapshotOptions: options, hub: hub, federated: map[string]bool{}, taken: &snapshot.Snapshot{Header: snapshot.Header{
		TypeMeta:      metav1.TypeMeta{APIVersion: snapshot.Kind.GroupVersion().String(), Kind: snapshot.Kind.Kind},
		FormatVersion: snapshot.FormatVersion, Time: metav1.NewTime(options.Now.UTC().Truncate(time.Second)), Namespace: options.Namespace,
		Controllers: options.Controllers, Kinds: []snapshot.Read{},
	}}}
	state := &explain.State{}
	state.Federated.Kinds = options.Delivered
	// Namespaces and ManifestWorks come first, because they say whose objects are delivered.
	kinds := slices.DeleteFunc(slices.Clone(state.Kinds()),
		func(kind *explain.Kind) bool { return kind.Reads|kind.Limited == 0 || kind.Version == "" })
	slices.SortStableFunc(kinds, func(a, b *explain.Kind) int { return cmp.Compare(order(a), order(b)) })
	for _, kind := range kinds {
		if err := t.take(ctx, kind); err != nil {
			return nil, err
		}
	}
	return t.taken, nil
}

// order is 0 for the kinds that say whose objects are delivered, and 1 for others.
func order(kind *explain.Kind) int {
	if kind == namespaceKind || kind == workKind {
		return 0
	}
	return 1
}

// taker takes one snapshot.
type taker struct {
	SnapshotOptions

	hub   client.Reader
	taken *snapshot.Snapshot
	// federated are the namespaces whose objects are delivered, or were before.
	federated map[string]bool
	// blind reports that the Namespaces could not be read.
	blind bool
}

// take reads the objects of a kind.
func (t *taker) take(ctx context.Context, kind *explain.Kind) error {
	within := t.within(kind)
	read := snapshot.Read{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind}
	for _, namespace := range within {
		err := t.list(ctx, kind, namespace, &read)
		switch {
		case apierrors.IsForbidden(err) && namespace == "" && kind.Namespaced && t.Namespace != "":
			t.lack(kind, "", err)
			if err = t.list(ctx, kind, t.Namespace, &read); apierrors.IsForbidden(err) {
				continue
			}
			namespace = t.Namespace
		case apierrors.IsForbidden(err) && kind == namespaceKind && t.Namespace != "":
			t.lack(kind, "", err)
			t.blind = true
			err = t.getNamespace(ctx, &read)
		}
		switch {
		case apierrors.IsForbidden(err), meta.IsNoMatchError(err), apierrors.IsNotFound(err):
			t.lack(kind, namespace, err)
			continue
		case err != nil:
			return fmt.Errorf("reading %s: %w; check the connection to the hub and try again", kind.Several(), err)
		case namespace != "":
			read.Namespaces = append(read.Namespaces, namespace)
		}
	}
	if read.ResourceVersion != "" || read.Objects > 0 {
		t.taken.Header.Kinds = append(t.taken.Header.Kinds, read)
	}
	return nil
}

// within returns the namespaces in which a kind is listed; "" is the whole hub. The objects of kinds that are only delivered are listed where
// they are.
func (t *taker) within(kind *explain.Kind) []string {
	switch {
	case kind.Reads&^kind.Limited == 0 && t.Namespace != "":
		return []string{t.Namespace}
	case kind.Reads != 0 || t.blind:
		return []string{""}
	default:
		return slices.Sorted(maps.Keys(t.federated))
	}
}

// list adds the objects of a kind in a namespace.
func (t *taker) list(ctx context.Context, kind *explain.Kind, namespace string, read *snapshot.Read) error {
	var objects []*unstructured.Unstructured
	version := ""
	empty := &unstructured.UnstructuredList{}
	empty.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := eachPage(ctx, t.hub, namespace, empty, func(page client.ObjectList, first bool) (err error) {
		if first {
			objects, version = nil, page.GetResourceVersion()
		}
		objects, err = appendItems(objects, page)
		return err
	})
	if err != nil {
		return err
	}
	read.ResourceVersion = cmp.Or(read.ResourceVersion, version)
	for _, object := range objects {
		t.add(kind, object, read)
	}
	return nil
}

// getNamespace adds the Namespace that is asked for.
func (t *taker) getNamespace(ctx context.Context, read *snapshot.Read) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(namespaceKind.GroupVersionKind)
	if err := t.hub.Get(ctx, client.ObjectKey{Name: t.Namespace}, object); err != nil {
		return err //nolint:wrapcheck // Its type decides what becomes of it.
	}
	t.add(namespaceKind, object, read)
	return nil
}

// add adds an object without what no evaluation reads.
func (t *taker) add(kind *explain.Kind, object *unstructured.Unstructured, read *snapshot.Read) {
	object.SetGroupVersionKind(kind.GroupVersionKind)
	switch kind {
	case namespaceKind:
		if object.GetLabels()[federation.FederatedLabel] == "true" {
			t.federated[object.GetName()] = true
		}
	case workKind:
		if object.GetLabels()[federation.ManagedLabel] != "true" { // Only its name counts.
			unstructured.RemoveNestedField(object.Object, "spec", "workload", "manifests")
			unstructured.RemoveNestedField(object.Object, "status")
		} else if namespace := object.GetLabels()[federation.NamespaceLabel]; namespace != "" {
			t.federated[namespace] = true
		}
	}
	snapshot.Redact(object)
	t.taken.Objects = append(t.taken.Objects, object)
	read.Objects++
}

// lack notes what could not be read.
func (t *taker) lack(kind *explain.Kind, namespace string, err error) {
	t.taken.Header.Unread = append(t.taken.Header.Unread, snapshot.Unread{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: namespace, Reason: err.Error(), Absent: !apierrors.IsForbidden(err),
	})
}
