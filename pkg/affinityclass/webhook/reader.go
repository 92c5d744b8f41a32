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
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
)

// reader reads what reviews need.
type reader struct {
	// cached reads from informers, and live from the API server.
	cached, live client.Reader
	tenants      *tenants
	owners       *owners
}

// get reads an object from the cache, and from the API server if it is not there. It returns false if neither has it.
func (r *reader) get(ctx context.Context, key client.ObjectKey, object client.Object) (found bool, err error) {
	if len(rest.IsValidPathSegmentName(key.Name)) > 0 { // Users name classes, and no object has such a name.
		return false, nil
	}

	for _, source := range []client.Reader{r.cached, r.live} {
		err := source.Get(ctx, key, object)
		if err == nil {
			return true, nil
		}

		if !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("reading %T %s: %w", object, key.Name, err)
		}
	}

	return false, nil
}

// classes returns a function that reads AffinityClasses.
func (r *reader) classes(ctx context.Context) affinityclass.Classes {
	return func(name string) (*cozystackv1alpha1.AffinityClass, error) {
		class := &cozystackv1alpha1.AffinityClass{}
		if found, err := r.get(ctx, client.ObjectKey{Name: name}, class); !found {
			return nil, err
		}

		return class, nil
	}
}

// namespaceOf returns a Namespace; an empty one if it does not exist.
func (r *reader) namespaceOf(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace := &corev1.Namespace{}
	if found, err := r.get(ctx, client.ObjectKey{Name: name}, namespace); !found {
		return &corev1.Namespace{}, err
	}

	return namespace, nil
}

// resolvedClass returns the class that an application has by the record of its HelmRelease; empty for none.
func (r *reader) resolvedClass(ctx context.Context, group, kind, namespace, name string) (string, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(affinityclass.ReleaseKind.GroupVersion().WithKind(affinityclass.ReleaseKind.Kind + "List"))

	labels := client.MatchingLabels(affinityclass.ReleaseLabels(group, kind, name))
	if err := r.cached.List(ctx, list, client.InNamespace(namespace), labels); err != nil {
		return "", fmt.Errorf("listing the HelmReleases of %s %s/%s: %w", kind, namespace, name, err)
	}

	found := make([]*unstructured.Unstructured, 0, len(list.Items))
	for i := range list.Items {
		found = append(found, &list.Items[i])
	}

	release, _ := affinityclass.ChooseRelease(found, false)
	if release == nil {
		return "", nil
	}

	record, _ := affinityclass.ParseRecord(release.GetAnnotations()[affinityclass.ResolvedAnnotation])

	return record.Class, nil
}

// lookup returns a function that reads owners and HelmReleases for the walk of one Pod.
func (r *reader) lookup(ctx context.Context, walk *walk) affinityclass.Lookup {
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
func (r *reader) release(ctx context.Context, target affinityclass.Target) (*affinityclass.Object, error) {
	target.Kind = affinityclass.ReleaseKind
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(target.Kind)

	err := r.cached.Get(ctx, client.ObjectKey{Namespace: target.Namespace, Name: target.Name}, release)

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
