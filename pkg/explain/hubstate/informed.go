// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Informed is a client of a process of the hub: it lists what decides about Placements from informers that run anyway, and reads everything else
// from the API server. Objects of lists are shared with the informers and must not be changed. It is safe for concurrent use.
type Informed struct {
	client.Client

	informers client.Reader
	serves    func(adapter api.Adapter) bool
}

var _ Checker = (*Informed)(nil)

// NewInformed returns an Informed. live reads the API server, informers has the informers of the APIs of Placements for which serves is true.
func NewInformed(live client.Client, informers client.Reader, serves func(adapter api.Adapter) bool) *Informed {
	return &Informed{Client: live, informers: informers, serves: serves}
}

// isInformed reports whether there is an informer of the kind of a list.
func (i *Informed) isInformed(list client.ObjectList) bool {
	some := false
	for _, adapter := range api.Adapters() {
		if !i.serves(adapter) {
			continue
		}
		some = true
		if sameType(list, adapter.EmptyList()) || sameType(list, adapter.Codec().EmptyList()) {
			return true
		}
	}

	switch list.(type) {
	case *clusterv1.ManagedClusterList, *clusterv1beta2.ManagedClusterSetList, *clusterv1beta2.ManagedClusterSetBindingList,
		*clusterv1alpha1.AddOnPlacementScoreList:
		return some
	default:
		return false
	}
}

// List implements client.Reader. Of the options it supports the namespace and the field selector for the name where there is an informer.
func (i *Informed) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if !i.isInformed(list) {
		return i.Client.List(ctx, list, options...) //nolint:wrapcheck // Its kind decides what is done.
	}
	var given client.ListOptions
	given.ApplyOptions(options)
	if given.FieldSelector != nil {
		if name, exact := given.FieldSelector.RequiresExactMatch(nameField); exact {
			return i.listByName(ctx, list, client.ObjectKey{Namespace: given.Namespace, Name: name})
		}
	}

	err := i.informers.List(ctx, list, client.InNamespace(given.Namespace), client.UnsafeDisableDeepCopy)
	list.SetContinue("") // An informer has no pages.
	return err           //nolint:wrapcheck // As above.
}

// MayList implements Checker: what has an informer may be listed.
func (i *Informed) MayList(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if i.isInformed(list) {
		return nil
	}
	return i.Client.List(ctx, list, append(options, client.Limit(1))...) //nolint:wrapcheck // Its kind decides what is done.
}

// listByName lists the object of a name, or none.
func (i *Informed) listByName(ctx context.Context, list client.ObjectList, key client.ObjectKey) error {
	kind := kindIn(list)
	kind.Kind = kind.Kind[:len(kind.Kind)-len("List")]

	made, err := i.Scheme().New(kind)
	if err != nil {
		return fmt.Errorf("listing %s by name: %w", kind, err)
	}
	object, is := made.(client.Object)
	if !is {
		return fmt.Errorf("%T is no object", made)
	}

	if err := i.informers.Get(ctx, key, object); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err //nolint:wrapcheck // Its kind decides what is done.
	}
	if err := meta.SetList(list, []runtime.Object{object}); err != nil {
		return fmt.Errorf("listing %s by name: %w", kind, err)
	}
	return nil
}
