package hubstate

import (
	"context"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// foreignReader is a reader that knows the works of others.
type foreignReader interface {
	foreignWorks() []*workv1.ManifestWork
}

// rememberedForeign reads from the caches of a FederatedWatcher, which watches no works of others: those of the first read count.
type rememberedForeign struct {
	watchedReader

	works []*workv1.ManifestWork
}

func (r rememberedForeign) foreignWorks() []*workv1.ManifestWork { return r.works }

// readForeign adds the metadata of ManifestWorks without the label of the hub that have a name as those of the hub have: in their clusters the
// hub cannot deliver the object, and what it withdraws meanwhile depends on that.
func (r *federatedReader) readForeign(ctx context.Context) {
	if known, is := r.hub.(foreignReader); is {
		r.objects.Works = append(r.objects.Works, known.foreignWorks()...)

		return
	}

	if r.err != nil || r.objects.WorksUnread || !r.objects.Delivers() {
		return
	}

	others := &metav1.PartialObjectMetadataList{}
	others.SetGroupVersionKind(workv1.SchemeGroupVersion.WithKind("ManifestWorkList"))

	unmanaged, err := labels.NewRequirement(federation.ManagedLabel, selection.NotEquals, []string{"true"})
	if err != nil {
		r.err = fmt.Errorf("selecting the ManifestWorks of others: %w", err)

		return
	}

	found, err := list[*metav1.PartialObjectMetadata](ctx, r.hub, "", others,
		client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*unmanaged)})
	r.missing("ManifestWorks", noWorks, err)

	for _, work := range found {
		if !strings.HasPrefix(work.Name, federation.WorkNamePrefix) {
			continue
		}

		r.objects.Works = append(r.objects.Works, &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
			Namespace: work.Namespace, Name: work.Name, UID: work.UID, DeletionTimestamp: work.DeletionTimestamp,
			ManagedFields: work.ManagedFields,
		}})
	}
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
func (r *federatedReader) readGuard(ctx context.Context) {
	if r.err != nil || r.objects.WorksUnread || !hasReplicas(r.objects.Kinds, r.objects.Objects) {
		return
	}

	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}

	for _, object := range []client.Object{policy, binding} {
		switch err := r.hub.Get(ctx, client.ObjectKey{Name: federation.WorksPolicy}, object); {
		case apierrors.IsNotFound(err):
			r.objects.WorksUnguarded = true

			return
		case apierrors.IsForbidden(err):
			r.objects.Missing = append(r.objects.Missing, "whether the policy "+federation.WorksPolicy+" guards ManifestWorks may not be read by this "+
				"user; replicas are those of a hub that has it")

			return
		case err != nil:
			r.err = fmt.Errorf("reading the policy %s: %w; check the connection to the hub and try again", federation.WorksPolicy, err)

			return
		}
	}

	r.objects.WorksUnguarded = !federation.Guards(binding)
}

// hasReplicas reports whether the replicas of an object are distributed.
func hasReplicas(kinds []federation.Kind, objects []*unstructured.Unstructured) bool {
	for _, object := range objects {
		for _, kind := range kinds {
			if kind.GroupVersionKind == object.GroupVersionKind() && kind.HasReplicas() {
				return true
			}
		}
	}

	return false
}
