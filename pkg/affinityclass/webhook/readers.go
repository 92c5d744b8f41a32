// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
)

// readers read what reviews need.
type readers struct {
	*reader.Reader

	owners *owners
}

// namespaceOf returns a Namespace; an empty one if it does not exist.
func (r *readers) namespaceOf(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace := &corev1.Namespace{}
	if found, err := r.Find(ctx, client.ObjectKey{Name: name}, namespace); !found {
		return &corev1.Namespace{}, err
	}
	return namespace, nil
}

// resolvedClass returns the class that an application has by the record of its HelmRelease; empty for none.
func (r *readers) resolvedClass(ctx context.Context, group, kind, namespace, name string) (string, error) {
	found, err := reader.Releases(ctx, r.Cached, client.InNamespace(namespace),
		client.MatchingLabels(affinityclass.ReleaseLabels(group, kind, name)))
	if err != nil {
		return "", fmt.Errorf("reading the class of %s %s/%s: %w", kind, namespace, name, err)
	}
	release, _ := affinityclass.ChooseRelease(found, false)
	if release == nil {
		return "", nil
	}
	record, _ := affinityclass.ParseRecord(release.GetAnnotations()[affinityclass.ResolvedAnnotation])
	return record.Class, nil
}

// lookup returns a function that reads owners and HelmReleases for the walk of one Pod.
func (r *readers) lookup(ctx context.Context, walk *walk) affinityclass.Lookup {
	return func(target affinityclass.Target) (*affinityclass.Object, error) {
		switch {
		case len(rest.IsValidPathSegmentName(target.Name)) > 0: // The API server accepts such a reference, and no object has such a name.
			return nil, nil
		case target.Kind.GroupKind() == affinityclass.ReleaseKind.GroupKind():
			return r.release(ctx, target)
		default:
			return walk.lookup(ctx, target)
		}
	}
}

// release returns a HelmRelease; nil if it does not exist. Whatever the version of the reference is, the informer has it.
func (r *readers) release(ctx context.Context, target affinityclass.Target) (*affinityclass.Object, error) {
	target.Kind = affinityclass.ReleaseKind
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(target.Kind)
	err := r.Cached.Get(ctx, client.ObjectKey{Namespace: target.Namespace, Name: target.Name}, release)
	switch {
	case apierrors.IsNotFound(err):
		return r.owners.read(ctx, target)
	case err != nil:
		return nil, fmt.Errorf("reading the cache: %w", err)
	case target.UID != "" && release.GetUID() != target.UID: // The cache may still have one that was deleted and created again.
		return r.owners.read(ctx, target)
	default:
		return objectOf(target.Kind.GroupKind(), release), nil
	}
}

func objectOf(kind schema.GroupKind, object metav1.Object) *affinityclass.Object {
	return &affinityclass.Object{
		Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), Labels: object.GetLabels(),
		Owners: object.GetOwnerReferences(),
	}
}
