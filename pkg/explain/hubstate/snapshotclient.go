// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/snapshot"
)

// SnapshotClient reads a snapshot as a client reads a hub. A kind that the user could not read is Forbidden, and so is every write. Objects of
// lists are shared and must not be changed. It is safe for concurrent use.
type SnapshotClient struct {
	client.Client // refuses writes

	scheme *runtime.Scheme
	header *snapshot.Header
	raw    map[schema.GroupVersionKind][]*unstructured.Unstructured

	mu    sync.Mutex // guards typed
	typed map[schema.GroupVersionKind][]client.Object
}

// NewSnapshotClient returns a SnapshotClient. The scheme has the kinds that are read as types.
func NewSnapshotClient(taken *snapshot.Snapshot, scheme *runtime.Scheme) (*SnapshotClient, error) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, read := range taken.Header.Kinds {
		gvk := schema.FromAPIVersionAndKind(read.APIVersion, read.Kind)
		scope := meta.RESTScopeRoot
		if kind := explain.FindKind(gvk); kind == nil || kind.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		mapper.Add(gvk, scope)
	}
	writer, err := client.New(&rest.Config{Host: "https://snapshot.invalid", Transport: readOnly{}}, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("making a client of a snapshot: %w", err)
	}
	c := &SnapshotClient{
		Client: writer, scheme: scheme, header: &taken.Header, raw: map[schema.GroupVersionKind][]*unstructured.Unstructured{},
		typed: map[schema.GroupVersionKind][]client.Object{},
	}
	for _, object := range taken.Objects {
		c.raw[object.GroupVersionKind()] = append(c.raw[object.GroupVersionKind()], object)
	}
	return c, nil
}

// readOnly refuses all requests.
type readOnly struct{}

func (readOnly) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("a snapshot is only read"))
}

// readable returns an error about a kind that is not in the snapshot, as the hub has given it.
func (c *SnapshotClient) readable(gvk schema.GroupVersionKind, namespace string) error {
	of := func(apiVersion, kind string) bool {
		return apiVersion == gvk.GroupVersion().String() && kind == gvk.Kind
	}
	for _, unread := range c.header.Unread {
		switch {
		case !of(unread.APIVersion, unread.Kind):
		case unread.Absent:
			return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
		case namespace == "" || namespace != c.header.Namespace || unread.Namespace == namespace:
			return c.forbidden(gvk, unread.Reason)
		}
	}
	for _, read := range c.header.Kinds {
		if of(read.APIVersion, read.Kind) {
			return nil
		}
	}
	if kind := explain.FindKind(gvk); kind != nil && kind.Reads == 0 && kind.Limited != 0 { // No namespace takes part.
		return nil
	}
	return c.forbidden(gvk, "the snapshot has no objects of the kind")
}

func (*SnapshotClient) forbidden(gvk schema.GroupVersionKind, reason string) error {
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	return apierrors.NewForbidden(resource.GroupResource(), "", errors.New(reason))
}

// Get implements client.Reader.
func (c *SnapshotClient) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(into, c.scheme)
	if err != nil {
		return err //nolint:wrapcheck // It names the type.
	}
	if err := c.readable(gvk, key.Namespace); err != nil {
		return err
	}
	for _, object := range c.raw[gvk] {
		if client.ObjectKeyFromObject(object) == key {
			return convert(object, into)
		}
	}
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	return apierrors.NewNotFound(resource.GroupResource(), key.Name)
}

// List implements client.Reader. Of the options it supports the namespace, labels, and the fields metadata.name and metadata.namespace.
func (c *SnapshotClient) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	gvk, err := apiutil.GVKForObject(list, c.scheme)
	if err != nil {
		return err //nolint:wrapcheck // It names the type.
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	var given client.ListOptions
	given.ApplyOptions(options)
	if err := c.readable(gvk, given.Namespace); err != nil {
		return err
	}
	objects, err := c.objects(gvk, list)
	if err != nil {
		return err
	}
	selected := make([]runtime.Object, 0, len(objects))
	for _, object := range objects {
		if (given.Namespace == "" || object.GetNamespace() == given.Namespace) &&
			(given.LabelSelector == nil || given.LabelSelector.Matches(labels.Set(object.GetLabels()))) &&
			(given.FieldSelector == nil || given.FieldSelector.Matches(fields.Set{
				metav1.ObjectNameField: object.GetName(), "metadata.namespace": object.GetNamespace(),
			})) {
			selected = append(selected, object)
		}
	}
	if err := meta.SetList(list, selected); err != nil {
		return fmt.Errorf("listing %s of a snapshot: %w", gvk.Kind, err)
	}
	return nil
}

// objects returns the objects of a kind as a list has them. It converts them to a type once.
func (c *SnapshotClient) objects(gvk schema.GroupVersionKind, list client.ObjectList) ([]client.Object, error) {
	var item func() client.Object
	switch list.(type) {
	case *unstructured.UnstructuredList:
		objects := make([]client.Object, 0, len(c.raw[gvk]))
		for _, object := range c.raw[gvk] {
			objects = append(objects, object)
		}
		return objects, nil
	case *metav1.PartialObjectMetadataList:
		item = func() client.Object { return &metav1.PartialObjectMetadata{} }
	default:
		c.mu.Lock()
		defer c.mu.Unlock()
		if objects, converted := c.typed[gvk]; converted {
			return objects, nil
		}
		item = func() client.Object {
			made, err := c.scheme.New(gvk)
			object, is := made.(client.Object)
			if err != nil || !is {
				return nil
			}
			return object
		}
	}
	objects := make([]client.Object, 0, len(c.raw[gvk]))
	for _, object := range c.raw[gvk] {
		typed := item()
		if typed == nil {
			return nil, fmt.Errorf("%s of a snapshot has no type", gvk)
		}
		if err := convert(object, typed); err != nil {
			return nil, err
		}
		objects = append(objects, typed)
	}
	if _, metadata := list.(*metav1.PartialObjectMetadataList); !metadata {
		c.typed[gvk] = objects
	}
	return objects, nil
}

// convert copies an object into one of a type.
func convert(object *unstructured.Unstructured, into client.Object) error {
	if untyped, is := into.(*unstructured.Unstructured); is {
		untyped.Object = object.DeepCopy().Object
		return nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return fmt.Errorf("%s %s/%s of a snapshot: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return nil
}
