// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// foreignReader is a reader that knows the works of others.
type foreignReader interface {
	foreignWorks() []*workv1.ManifestWork
}

// rememberedForeign reads from the caches of a FederatedWatcher, which watches no works of others: those of the first read count, of the objects
// that there were.
type rememberedForeign struct {
	watchedReader

	works []*workv1.ManifestWork
}

func (r rememberedForeign) foreignWorks() []*workv1.ManifestWork { return r.works }

// readForeign adds the metadata of ManifestWorks without the label of the hub that have the names of works of objects: in their clusters the hub
// cannot deliver the object, and what it withdraws meanwhile depends on that. Others are not kept: a hub may have many. The objects are those
// that were read, and given ones, which the hub may not have yet.
func (r *federatedReader) readForeign(given []*unstructured.Unstructured) {
	if known, is := r.hub.(foreignReader); is {
		r.objects.Works = append(r.objects.Works, known.foreignWorks()...)
		return
	}
	names := r.workNames(given)
	if r.failed != nil || r.objects.WorksUnread || len(names) == 0 {
		return
	}
	empty := &metav1.PartialObjectMetadataList{}
	empty.SetGroupVersionKind(schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWorkList"))

	unmanaged, err := labels.NewRequirement(federation.ManagedLabel, selection.NotEquals, []string{"true"})
	if err != nil {
		r.fail(fmt.Errorf("selecting the ManifestWorks of others: %w", err))
		return
	}
	var foreign []*workv1.ManifestWork

	err = eachPage(r.ctx, r.hub, "", empty, func(page client.ObjectList, first bool) error {
		if first {
			foreign = nil
		}
		works, err := appendItems[*metav1.PartialObjectMetadata](nil, page)
		foreign = append(foreign, worksNamed(works, names)...)
		return err
	}, client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*unmanaged)})
	if err != nil {
		r.record(workKind.Several(), workKind.IfMissing[r.concern], err)
	}

	r.objects.Works = append(r.objects.Works, foreign...)
}

// workNames returns the names of the works of the objects that were read in namespaces that take part, and of given ones.
func (r *federatedReader) workNames(given []*unstructured.Unstructured) map[string]bool {
	names := map[string]bool{}
	add := func(object *unstructured.Unstructured) {
		if kind, delivered := r.objects.KindOf(object.GroupVersionKind()); delivered {
			identity := federation.Identity{Kind: kind, NamespacedName: client.ObjectKeyFromObject(object)}
			names[identity.WorkName()] = true
		}
	}

	parts := map[string]bool{}
	for _, object := range r.objects.Objects {
		namespace := object.GetNamespace()
		if _, known := parts[namespace]; !known {
			parts[namespace] = r.objects.TakesPart(namespace)
		}
		if parts[namespace] {
			add(object)
		}
	}

	for _, object := range given {
		add(object)
	}
	return names
}

// worksNamed returns works with some names. They share no memory with the others of their page.
func worksNamed(works []*metav1.PartialObjectMetadata, names map[string]bool) []*workv1.ManifestWork {
	var found []*workv1.ManifestWork
	for _, work := range works {
		if names[work.Name] {
			found = append(found, &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
				Namespace: work.Namespace, Name: work.Name, UID: work.UID, DeletionTimestamp: work.DeletionTimestamp,
				ManagedFields: work.ManagedFields,
			}})
		}
	}
	return found
}

// foreignIn returns the works of readForeign.
func foreignIn(works []*workv1.ManifestWork) []*workv1.ManifestWork {
	var foreign []*workv1.ManifestWork
	for _, work := range works {
		if work.Labels[federation.ManagedLabel] == "" {
			foreign = append(foreign, work)
		}
	}
	return foreign
}

// readGuard finds out whether others may change the works, on which the replicas of clusters that are away depend. A user who may not read that
// sees the replicas of a hub whose works are guarded.
func (r *federatedReader) readGuard() {
	if r.failed != nil || r.objects.WorksUnread || !hasReplicas(r.objects.Kinds, r.objects.Objects) {
		return
	}
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	for _, object := range []client.Object{policy, binding} {
		switch err := r.hub.Get(r.ctx, client.ObjectKey{Name: federation.WorksPolicy}, object); {
		case apierrors.IsNotFound(err):
			r.objects.WorksUnguarded = true
			return
		case apierrors.IsForbidden(err):
			r.note("whether the policy " + federation.WorksPolicy + " guards ManifestWorks may not be read by this user; replicas are those of a " +
				"hub that has it")
			return
		case err != nil:
			r.fail(fmt.Errorf("reading the policy %s: %w; check the connection to the hub and try again", federation.WorksPolicy, err))
			return
		}
	}

	r.objects.WorksUnguarded = !federation.Guards(binding)
}

// hasReplicas reports whether the replicas of an object are distributed.
func hasReplicas(kinds []federation.FederatedKind, objects []*unstructured.Unstructured) bool {
	for _, object := range objects {
		for _, kind := range kinds {
			if kind.GroupVersionKind == object.GroupVersionKind() && kind.HasReplicas() {
				return true
			}
		}
	}
	return false
}
