// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"maps"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// reviewed is an object of a review with the evaluations of both its states.
type reviewed struct {
	// after is the evaluation of the object, or of the defaults of a Namespace. before is that of its former state; nil if it is new or if no
	// annotation of the hub has changed.
	after, before *federation.Evaluation
	// changed reports that the object is new or that an annotation of the hub has changed.
	changed bool
	// isNamespace reports that the object is a Namespace, and isNew that it is created.
	isNamespace, isNew bool
	// placements are the Placements of the namespace, if the object follows one.
	placements []string
}

// evaluate evaluates the object of a review before and after the change; nil if it is not delivered or if the hub is not known completely.
func (h *handler) evaluate(ctx context.Context, request *admission.Request) (*reviewed, error) {
	snapshot := h.hub.Snapshot()
	if snapshot == nil {
		return nil, nil
	}
	snapshot = snapshot.WithDone(ctx.Done())
	result := &reviewed{
		isNew: request.Operation == admissionv1.Create, isNamespace: request.Kind.Group == "" && request.Kind.Kind == namespaceKind,
	}

	after, err := decoded(request.Object.Raw)
	if err != nil {
		return nil, err
	}
	var before *unstructured.Unstructured
	if !result.isNew {
		if before, err = decoded(request.OldObject.Raw); err != nil {
			return nil, err
		}
	}

	result.changed = before == nil || !sameAnnotations(before, after)
	if !result.changed {
		before = nil
	}

	if result.isNamespace {
		err = h.evaluateNamespace(ctx, result, snapshot, before, after)
	} else {
		at := slices.IndexFunc(h.hub.Kinds, func(kind federation.FederatedKind) bool {
			return metav1.GroupVersionKind(kind.GroupVersionKind) == request.Kind
		})
		if at < 0 {
			return nil, nil
		}
		err = h.evaluateObject(ctx, result, snapshot, h.hub.Kinds[at], before, after)
	}

	if err != nil {
		return nil, err
	}
	return result, h.readPlacements(ctx, result)
}

func decoded(raw []byte) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &object.Object); err != nil {
		return nil, fmt.Errorf("reading the object: %w", err)
	}
	return object, nil
}

// sameAnnotations reports whether two states of an object have the same annotations of the hub, and a Namespace the same label.
func sameAnnotations(before, after *unstructured.Unstructured) bool {
	return before.GetLabels()[federation.FederatedLabel] == after.GetLabels()[federation.FederatedLabel] &&
		maps.Equal(federation.HubAnnotations(before.GetAnnotations()), federation.HubAnnotations(after.GetAnnotations()))
}

// evaluateObject evaluates an object by its existing works.
func (h *handler) evaluateObject(
	ctx context.Context, into *reviewed, snapshot *inventory.Snapshot, kind federation.FederatedKind, before, after *unstructured.Unstructured,
) error {
	namespace, err := h.hub.Reader.NamespaceMeta(ctx, after.GetNamespace())
	if err != nil || namespace == nil {
		return err
	}
	object := federation.Object{Kind: kind, Meta: metadata(after)}

	works, err := h.hub.Reader.Works(ctx, object.Identity())
	if err != nil {
		return err
	}
	if into.after, err = h.evaluateOne(ctx, snapshot, kind, after, namespace, works); err != nil || before == nil {
		return err
	}
	into.before, err = h.evaluateOne(ctx, snapshot, kind, before, namespace, works)
	return err
}

func (h *handler) evaluateOne(
	ctx context.Context, snapshot *inventory.Snapshot, kind federation.FederatedKind, content *unstructured.Unstructured,
	namespace *metav1.ObjectMeta, works []federation.ExistingWork,
) (*federation.Evaluation, error) {
	body, _ := federation.BodyOf(kind, content)
	return h.pipeline(ctx, snapshot, federation.Object{Kind: kind, Meta: metadata(content), Body: body}, namespace, works)
}

// evaluateNamespace evaluates the defaults of a Namespace for an object without annotations that is in all clusters of the former defaults.
func (h *handler) evaluateNamespace(
	ctx context.Context, into *reviewed, snapshot *inventory.Snapshot, before, after *unstructured.Unstructured,
) (err error) {
	name := after.GetName()
	object := federation.Object{ // The annotation of no Namespace is the token of the generation.
		Kind: federation.FederatedKind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind(namespaceKind)},
		Meta: metav1.ObjectMeta{Namespace: name, Generation: 1},
	}
	var works []federation.ExistingWork

	if before != nil {
		former := metadata(before)

		selected, err := h.pipeline(ctx, snapshot, object, &former, nil)
		if err != nil {
			return err
		}
		for _, cluster := range selected.Selected {
			works = append(works, federation.ExistingWork{Cluster: cluster})
		}
		if into.before, err = h.pipeline(ctx, snapshot, object, &former, works); err != nil {
			return err
		}
	}

	latest := metadata(after)
	into.after, err = h.pipeline(ctx, snapshot, object, &latest, works)
	return err
}

// pipeline runs the pipeline of the controller. What only the controller knows is left out: which workloads propagate the object.
func (h *handler) pipeline(
	ctx context.Context, snapshot *inventory.Snapshot, object federation.Object, namespace *metav1.ObjectMeta, works []federation.ExistingWork,
) (*federation.Evaluation, error) {
	var unread error
	evaluation := federation.Evaluate(object, federation.View{
		Compiler: h.hub.Compiler, HubNamespace: h.hub.Namespace, Namespace: namespace, Works: works,
		Snapshot: func(*scheduling.Request) *inventory.Snapshot { return snapshot },
		Decisions: func(placement string) (decisions federation.Decisions) {
			decisions, unread = h.hub.Reader.Decisions(ctx, types.NamespacedName{Namespace: object.Meta.Namespace, Name: placement})
			return decisions
		},
		Reached: func(federation.Dependency) ([]string, bool) { return nil, false },
	}, h.hub.Clock.Now())
	return evaluation, unread
}

// readPlacements reads the Placements of the namespace of an object that follows one.
func (h *handler) readPlacements(ctx context.Context, of *reviewed) (err error) {
	if of.after != nil && of.after.Target.Placement != "" {
		of.placements, err = h.hub.Reader.Placements(ctx, of.after.Object.Meta.Namespace)
	}
	return err
}

// metadata returns the metadata of an object that decide about its delivery.
func metadata(object *unstructured.Unstructured) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), Generation: object.GetGeneration(),
		Labels: object.GetLabels(), Annotations: object.GetAnnotations(), OwnerReferences: object.GetOwnerReferences(),
	}
}
