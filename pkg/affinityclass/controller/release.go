// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
)

// HelmReleases are unstructured although Flux has Go types of them: server-side apply of the typed object would also send fields that the
// hub must not own, such as spec.interval, which is never omitted.

// schedulingValue is the value that the hub writes into every HelmRelease with a class.
const schedulingValue = "_scheduling"

// valuesOf returns spec.values of a HelmRelease; nil if there are none.
func valuesOf(release *unstructured.Unstructured) map[string]any {
	spec, isMap := release.Object["spec"].(map[string]any)
	if !isMap {
		return nil
	}
	values, isMap := spec["values"].(map[string]any)
	if !isMap {
		return nil
	}
	return values
}

// scheduled returns values with _scheduling as wanted.
func scheduled(values map[string]any, wanted affinityclass.Release) map[string]any {
	values = maps.Clone(values)
	delete(values, schedulingValue)
	if wanted.Scheduling != nil {
		values[schedulingValue] = wanted.Scheduling
	}
	return values
}

// part returns the fields of a HelmRelease that the hub writes: label, annotation, _scheduling, and all values of one that it created.
type part struct {
	labels, values map[string]any
}

// presentPart returns what a HelmRelease has of the fields that the hub writes.
func presentPart(release *unstructured.Unstructured, created bool) part {
	present := part{map[string]any{}, map[string]any{}}
	if class, found := release.GetLabels()[affinityclass.ClassLabel]; found {
		present.labels[affinityclass.ClassLabel] = class
	}
	for key, value := range valuesOf(release) {
		if created || key == schedulingValue {
			present.values[key] = value
		}
	}
	return present
}

// wantedPart returns what a HelmRelease has to have of the fields that the hub writes.
func wantedPart(application *affinityclass.Application, wanted affinityclass.Release, created bool) part {
	values := map[string]any{}
	if created {
		values = application.Values()
	}
	result := part{map[string]any{}, scheduled(values, wanted)}
	if wanted.Class != "" {
		result.labels[affinityclass.ClassLabel] = wanted.Class
	}
	return result
}

// apply has the HelmRelease of an application have exactly the wanted label, annotation and _scheduling, and one that the hub created the
// values of the application. It sends nothing if they are right.
func (r *applicationReconciler) apply(
	ctx context.Context, application *affinityclass.Application, release *unstructured.Unstructured, wanted affinityclass.Release,
) error {
	created := application.Created(release)
	to := wantedPart(application, wanted, created)
	if wanted.InStep(release.GetLabels(), release.GetAnnotations(), valuesOf(release)) &&
		reflect.DeepEqual(presentPart(release, created).values, to.values) {
		return nil
	}

	applied := newObject(affinityclass.ReleaseKind)
	applied.SetNamespace(release.GetNamespace())
	applied.SetName(release.GetName())
	applied.SetUID(release.GetUID()) // A HelmRelease that is gone is not created.
	applied.SetResourceVersion(release.GetResourceVersion())
	applied.SetAnnotations(map[string]string{affinityclass.ResolvedAnnotation: wanted.Record})
	if wanted.Class != "" {
		applied.SetLabels(map[string]string{affinityclass.ClassLabel: wanted.Class})
	}

	if len(to.values) > 0 {
		applied.Object["spec"] = map[string]any{"values": to.values}
	}
	if err := r.releases.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.ForceOwnership); err != nil {
		return fmt.Errorf("applying the class to HelmRelease %s: %w", client.ObjectKeyFromObject(release), err)
	}
	klog.FromContext(ctx).V(2).Info("Wrote the class of an application", "helmRelease", klog.KObj(release), "class", wanted.Class)
	return r.prune(ctx, applied, presentPart(applied, created), to)
}

// prune removes fields that server-side apply has left, because another manager owns them too.
func (r *applicationReconciler) prune(ctx context.Context, release *unstructured.Unstructured, present, wanted part) error {
	labels, values := surplus(present.labels, wanted.labels), surplus(present.values, wanted.values)
	if labels == nil && values == nil {
		return nil
	}
	patch, err := json.Marshal(removal(release.GetResourceVersion(), labels, values))
	if err != nil {
		return fmt.Errorf("encoding a patch of HelmRelease %s: %w", client.ObjectKeyFromObject(release), err)
	}

	if err := r.writer.Patch(ctx, release, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("removing fields of HelmRelease %s: %w", client.ObjectKeyFromObject(release), err)
	}
	return nil
}

// removal returns a merge patch of a HelmRelease. What is nil is not in it, because a null would remove all labels or values.
func removal(version string, labels, values map[string]any) map[string]any {
	metadata := map[string]any{"resourceVersion": version}
	if labels != nil {
		metadata["labels"] = labels
	}
	patch := map[string]any{"metadata": metadata}
	if values != nil {
		patch["spec"] = map[string]any{"values": values}
	}
	return patch
}

// surplus returns a merge patch that removes from a map whatever another one has not; nil if there is nothing.
func surplus(present, wanted map[string]any) map[string]any {
	var removed map[string]any
	remove := func(key string, value any) {
		if removed == nil {
			removed = map[string]any{}
		}
		removed[key] = value
	}

	for key, value := range present {
		kept, found := wanted[key]
		inner, isMap := value.(map[string]any)
		other, areMaps := kept.(map[string]any)
		switch {
		case !found:
			remove(key, nil)
		case isMap && areMaps:
			if deeper := surplus(inner, other); deeper != nil {
				remove(key, deeper)
			}
		}
	}

	return removed
}

// create creates the HelmRelease of an application by the chart of its kind.
func (r *applicationReconciler) create(
	ctx context.Context, application *affinityclass.Application, of kind, wanted affinityclass.Release,
) (*outcome, error) {
	release, err := application.CreateRelease(of.chart, wanted)
	if err != nil {
		return &outcome{ //nolint:nilerr // The outcome has the error.
			metav1.ConditionFalse, affinityclass.ReasonReleaseNotFound, err.Error() + "; correct it, so that the hub creates a HelmRelease",
		}, nil
	}
	key := client.ObjectKeyFromObject(release)

	err = r.writer.Create(ctx, release)
	if apierrors.IsAlreadyExists(err) {
		present := newObject(affinityclass.ReleaseKind)
		if err := r.Live.Get(ctx, key, present); err != nil {
			return nil, fmt.Errorf("reading HelmRelease %s: %w", key, err)
		}
		if kind, name, _ := affinityclass.ApplicationOf(present.GetLabels()); kind != of.GroupKind() || name != application.Name {
			return &outcome{metav1.ConditionFalse, affinityclass.ReasonReleaseNotFound, fmt.Sprintf(
				"HelmRelease %s exists without the labels apps.cozystack.io/application.{group,kind,name} of the application: add them, or delete it",
				key.Name)}, nil
		}
	}

	if err != nil {
		return nil, fmt.Errorf("creating HelmRelease %s: %w", key, err)
	}
	klog.FromContext(ctx).V(2).Info("Created the HelmRelease of an application", "helmRelease", key, "class", wanted.Class)
	return resolved(wanted.Class), nil
}
