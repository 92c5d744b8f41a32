package decision

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Action is one kind of request that the Writer sends.
type Action string

// The actions. Create is followed by Fill, because an API server drops the status of an object that is created.
const (
	ActionCreate Action = "create"
	ActionMend   Action = "mend"
	ActionFill   Action = "fill"
	ActionDelete Action = "delete"
)

// Observer is told of every request after it was answered. The page is what the API server returned, or what was to be written when err
// is set.
type Observer func(action Action, page *clusterv1beta1.PlacementDecision, err error)

// Writer carries plans out. Every request but a creation has the uid and resourceVersion it was planned on as a precondition, so that
// a plan made on an old view is refused and not carried out. It stops at the first error and returns it.
type Writer struct {
	// Client sends the requests.
	Client client.Client
}

// Written has the last answer to every page that was written, by name.
type Written map[string]*clusterv1beta1.PlacementDecision

// Write sends the writes in their order and returns what came of them, also with an error.
func (w Writer) Write(ctx context.Context, writes []Write, observe Observer) (Written, error) {
	written := Written{}

	for _, write := range writes {
		if err := w.write(ctx, write, written, observe); err != nil {
			return written, err
		}
	}

	return written, nil
}

func (w Writer) write(ctx context.Context, write Write, written Written, observe Observer) error {
	page := write.Desired

	current := write.Current
	if last := written[page.Name]; last != nil {
		current = last
	}

	if write.Create {
		created := &clusterv1beta1.PlacementDecision{ObjectMeta: *page.ObjectMeta.DeepCopy()}
		err := w.Client.Create(ctx, created)
		observe(ActionCreate, created, err)

		if err != nil {
			return fmt.Errorf("creating PlacementDecision %s/%s: %w", page.Namespace, page.Name, err)
		}

		current, written[page.Name] = created, created
	}

	if write.Mend {
		mended, err := w.patch(ctx, current, map[string]any{
			"metadata": map[string]any{
				"uid": current.UID, "resourceVersion": current.ResourceVersion,
				"labels": page.Labels, "ownerReferences": page.OwnerReferences,
			},
		}, "")
		observe(ActionMend, mended, err)

		if err != nil {
			return fmt.Errorf("mending labels and owners of PlacementDecision %s/%s: %w", page.Namespace, page.Name, err)
		}

		current, written[page.Name] = mended, mended
	}

	if !write.Fill {
		return nil
	}

	filled, err := w.fill(ctx, current, page.Status.Decisions, observe)
	if err == nil {
		written[page.Name] = filled
	}

	return err
}

func (w Writer) fill(
	ctx context.Context, current *clusterv1beta1.PlacementDecision, decisions []clusterv1beta1.ClusterDecision, observe Observer,
) (*clusterv1beta1.PlacementDecision, error) {
	filled, err := w.patch(ctx, current, map[string]any{
		"metadata": map[string]any{"uid": current.UID, "resourceVersion": current.ResourceVersion},
		"status":   map[string]any{"decisions": decisions},
	}, "status")
	observe(ActionFill, filled, err)

	if err != nil {
		return nil, fmt.Errorf("writing the decisions of PlacementDecision %s/%s: %w", current.Namespace, current.Name, err)
	}

	return filled, nil
}

// patch sends a merge patch and returns what came of it; the current object, which may be shared with a cache, is not touched.
func (w Writer) patch(
	ctx context.Context, current *clusterv1beta1.PlacementDecision, body map[string]any, subresource string,
) (*clusterv1beta1.PlacementDecision, error) {
	patched := current.DeepCopy()

	data, err := json.Marshal(body)
	if err != nil {
		return patched, fmt.Errorf("encoding the patch: %w", err)
	}

	patch := client.RawPatch(types.MergePatchType, data)
	if subresource == "" {
		err = w.Client.Patch(ctx, patched, patch)
	} else {
		err = w.Client.SubResource(subresource).Patch(ctx, patched, patch)
	}

	return patched, err //nolint:wrapcheck // Wrapped by the callers, who know what it was for.
}

// Delete removes the surplus pages in their order, as they are after what was written. A page that is gone already is no error.
func (w Writer) Delete(ctx context.Context, pages []*clusterv1beta1.PlacementDecision, written Written, observe Observer) error {
	for _, page := range pages {
		if last := written[page.Name]; last != nil {
			page = last
		}

		err := w.Client.Delete(ctx, page.DeepCopy(), client.Preconditions{
			UID: ptr.To(page.UID), ResourceVersion: ptr.To(page.ResourceVersion),
		})
		if apierrors.IsNotFound(err) {
			err = nil
		}

		observe(ActionDelete, page, err)

		if err != nil {
			return fmt.Errorf("deleting PlacementDecision %s/%s: %w", page.Namespace, page.Name, err)
		}
	}

	return nil
}

// WriteStatus patches the status of the placement if it differs, and returns the placement as it is then; nil when nothing was to do.
func (w Writer) WriteStatus(
	ctx context.Context, placement *clusterv1beta1.Placement, status clusterv1beta1.PlacementStatus,
) (*clusterv1beta1.Placement, error) {
	if sameStatus(placement.Status, status) {
		return nil, nil
	}

	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": placement.UID, "resourceVersion": placement.ResourceVersion},
		"status":   status,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the status of Placement %s/%s: %w", placement.Namespace, placement.Name, err)
	}

	patched := placement.DeepCopy()
	if err := w.Client.Status().Patch(ctx, patched, client.RawPatch(types.MergePatchType, data)); err != nil {
		return nil, fmt.Errorf("writing the status of Placement %s/%s: %w", placement.Namespace, placement.Name, err)
	}

	return patched, nil
}

// Outdated reports whether an error says that the plan was made on an old view of the world: it is to be made again, quietly.
func Outdated(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}

// Terminating reports whether an error says that the namespace is going away, so that nothing is left to do.
func Terminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// Cause is a stable text for a failed request: it has no times, versions or addresses.
func Cause(err error) string {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}

	return "the API server could not be asked"
}
