// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// pageSize is the limit of objects of one list request.
const pageSize = 500

// Options say what is read.
type Options struct {
	// Namespace is that of the objects; empty for all.
	Namespace string
	// Delivered are the kinds that the hub delivers to clusters.
	Delivered []federation.FederatedKind
	// Controllers are those that the hub says it runs.
	Controllers []string
	// Now is the present time.
	Now time.Time
}

// Snapshot is what was read.
type Snapshot struct {
	Header  Header
	Objects []*unstructured.Unstructured
}

// Take reads a snapshot. What its user may not read, and what the hub does not serve, is in the Header. The error is one of a request that failed
// for another reason.
func Take(ctx context.Context, hub client.Reader, options Options) (*Snapshot, error) {
	t := &taker{Options: options, hub: hub, federated: map[string]bool{}, taken: &Snapshot{Header: Header{
		TypeMeta:      metav1.TypeMeta{APIVersion: Kind.GroupVersion().String(), Kind: Kind.Kind},
		FormatVersion: FormatVersion, Time: metav1.NewTime(options.Now.UTC().Truncate(time.Second)), Namespace: options.Namespace,
		Controllers: options.Controllers, Kinds: []Read{},
	}}}
	state := &explain.State{}
	state.Federated.Kinds = options.Delivered
	// Namespaces and ManifestWorks come first, because they say whose objects are delivered.
	kinds := slices.DeleteFunc(slices.Clone(state.Kinds()), func(kind *explain.Kind) bool { return kind.Reads|kind.Limited == 0 || kind.Version == "" })
	slices.SortStableFunc(kinds, func(a, b *explain.Kind) int { return cmp.Compare(order(a), order(b)) })
	for _, kind := range kinds {
		if err := t.take(ctx, kind); err != nil {
			return nil, err
		}
	}
	return t.taken, nil
}

var (
	namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")
	workKind      = schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork")
)

// order is 0 for the kinds that say whose objects are delivered, and 1 for others.
func order(kind *explain.Kind) int {
	if kind.GroupVersionKind == namespaceKind || kind.GroupVersionKind == workKind {
		return 0
	}
	return 1
}

// taker takes one snapshot.
type taker struct {
	Options

	hub   client.Reader
	taken *Snapshot
	// federated are the namespaces whose objects are delivered, or were before.
	federated map[string]bool
	// blind reports that the Namespaces could not be read.
	blind bool
}

// take reads the objects of a kind.
func (t *taker) take(ctx context.Context, kind *explain.Kind) error {
	within := t.within(kind)
	read := Read{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind}
	for _, namespace := range within {
		err := t.list(ctx, kind, namespace, &read)
		switch {
		case apierrors.IsForbidden(err) && namespace == "" && kind.Namespaced && t.Namespace != "":
			t.lack(kind, "", err)
			if err = t.list(ctx, kind, t.Namespace, &read); apierrors.IsForbidden(err) {
				continue
			}
			namespace = t.Namespace
		case apierrors.IsForbidden(err) && kind.GroupVersionKind == namespaceKind && t.Namespace != "":
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

// within returns the namespaces in which a kind is listed; "" is the whole hub. The objects of kinds that are only delivered are listed where they are.
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

// list adds the objects of a kind in a namespace. If the continue token has expired, it lists again without a limit.
func (t *taker) list(ctx context.Context, kind *explain.Kind, namespace string, read *Read) error {
	var objects []unstructured.Unstructured
	version, next := "", ""
	for limit := int64(pageSize); ; {
		page := &unstructured.UnstructuredList{}
		page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := t.hub.List(ctx, page, client.InNamespace(namespace), client.Limit(limit), client.Continue(next))
		if apierrors.IsResourceExpired(err) && next != "" {
			next, limit, objects = "", 0, nil
			continue
		}
		if err != nil {
			return err //nolint:wrapcheck // Its type decides what becomes of it.
		}
		if next == "" {
			version = page.GetResourceVersion()
		}
		objects = append(objects, page.Items...)
		if next = page.GetContinue(); next == "" {
			break
		}
	}
	if read.ResourceVersion == "" {
		read.ResourceVersion = version
	}
	for i := range objects {
		t.add(kind, &objects[i], read)
	}
	return nil
}

// getNamespace adds the Namespace that is asked for.
func (t *taker) getNamespace(ctx context.Context, read *Read) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(namespaceKind)
	if err := t.hub.Get(ctx, client.ObjectKey{Name: t.Namespace}, object); err != nil {
		return err //nolint:wrapcheck // Its type decides what becomes of it.
	}
	t.add(explain.FindKind(namespaceKind), object, read)
	return nil
}

// add adds an object without what no evaluation reads.
func (t *taker) add(kind *explain.Kind, object *unstructured.Unstructured, read *Read) {
	object.SetGroupVersionKind(kind.GroupVersionKind)
	switch kind.GroupVersionKind {
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
	redact(object.Object)
	t.taken.Objects = append(t.taken.Objects, object)
	read.Objects++
}

// lack notes what could not be read.
func (t *taker) lack(kind *explain.Kind, namespace string, err error) {
	t.taken.Header.Unread = append(t.taken.Header.Unread, Unread{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: namespace, Reason: err.Error(), Absent: !apierrors.IsForbidden(err),
	})
}
