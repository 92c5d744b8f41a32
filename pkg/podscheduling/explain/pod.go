// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// pod is the Pod of a workload as admission leaves it.
type pod struct {
	// spec is the pod spec after the policies, and own the one of an existing Pod before; nil for a template.
	spec, own *corev1.PodSpec
	// node is the node that an existing Pod is bound to; empty for none.
	node string
	// object has the metadata that an owner walk reads, and between the object between the workload and the Pod; nil if there is none.
	object, between *affinityclass.Object
}

// podOf returns the Pod that would be created now: of an existing template as it is, and of a new one with what the policies add to it. The
// policies are applied to the Pod too.
func (e *Evaluator) podOf(ev *evaluation) (*pod, error) {
	object := ev.object
	if ev.admission != existing || ev.kind.isPod() {
		object = ev.injected
	}

	if !ev.kind.isPod() {
		made, err := podFromTemplate(ev.kind, object)
		if made == nil || err != nil {
			return nil, err
		}
		if object, err = e.injectedPod(made); err != nil {
			return nil, err
		}
	}

	spec, err := specOf(object)
	if spec == nil || err != nil {
		return nil, err
	}
	p := &pod{spec: spec, object: walked(podKind.GroupKind(), object)}
	if !ev.kind.isPod() {
		p.between = betweenOf(ev)
		return p, nil
	}

	if own, err := specOf(ev.object); err != nil {
		return nil, err
	} else if ev.admission != creation {
		p.node = own.NodeName
		if ev.admission == existing {
			p.own = own
		}
	}
	return p, nil
}

// injectedPod returns a Pod with what the policies add to it.
func (e *Evaluator) injectedPod(made *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	kind, _ := KindOf(podKind)
	if e.notReviewed(kind, made, creation) != "" {
		return made, nil
	}
	workload, err := read(kind, made)
	if err != nil {
		return nil, err
	}
	result := podscheduling.Inject(workload, e.matching(workload))
	return patched(made, &result)
}

// podFromTemplate returns a Pod of the template of a workload; nil if it has none.
func podFromTemplate(kind WorkloadKind, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	template, found, err := unstructured.NestedMap(object.Object, kind.template...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(kind.template, "."), err)
	}
	if !found || template["spec"] == nil {
		return nil, nil
	}

	made := &unstructured.Unstructured{Object: template}
	made.SetGroupVersionKind(podKind)
	made.SetNamespace(object.GetNamespace())
	made.SetName(podName(kind, object.GetName()))
	made.SetOwnerReferences([]metav1.OwnerReference{controllerReference(kind, object)})
	return made, nil
}

// podName returns the name of a Pod of a workload, with "*" for a suffix that is chosen at its creation.
func podName(kind WorkloadKind, workload string) string {
	if kind.Kind == "StatefulSet" {
		return workload + "-0"
	}
	return workload + "-*"
}

// controllerReference returns the reference of the Pods of a workload to their controller, which may be an object in between.
func controllerReference(kind WorkloadKind, object *unstructured.Unstructured) metav1.OwnerReference {
	gvk, name, uid := kind.GroupVersionKind, object.GetName(), object.GetUID()
	if !kind.between.Empty() {
		gvk, name, uid = kind.between, name+"-*", betweenUID(object)
	}
	apiVersion, kindName := gvk.ToAPIVersionAndKind()
	controller := true
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kindName, Name: name, UID: uid, Controller: &controller}
}

// betweenOf returns the object that a controller makes between a workload and its Pods; nil if there is none.
func betweenOf(ev *evaluation) *affinityclass.Object {
	if ev.kind.between.Empty() {
		return nil
	}
	controller, apiVersion, kind := true, ev.kind.GroupVersion().String(), ev.kind.Kind
	return &affinityclass.Object{
		Kind: ev.kind.between.GroupKind(), Namespace: ev.object.GetNamespace(), Name: ev.object.GetName() + "-*", UID: betweenUID(ev.object),
		Owners: []metav1.OwnerReference{{
			APIVersion: apiVersion, Kind: kind, Name: ev.object.GetName(), UID: ev.object.GetUID(), Controller: &controller,
		}},
	}
}

// betweenUID is the UID of the object between a workload and its Pods, which no existing object has.
func betweenUID(object *unstructured.Unstructured) types.UID { return object.GetUID() + "/between" }

// patched returns an object with the patch of a result; the object itself if there is none.
func patched(object *unstructured.Unstructured, result *podscheduling.Result) (*unstructured.Unstructured, error) {
	text, err := result.Patch()
	if text == nil || err != nil {
		return object, err
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, fmt.Errorf("decode the patch: %w", err)
	}

	raw, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	if raw, err = patch.Apply(raw); err != nil {
		return nil, fmt.Errorf("apply the patch: %w", err)
	}

	after := &unstructured.Unstructured{}
	if err := after.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("decode the patched object: %w", err)
	}
	return after, nil
}

// specOf returns the spec of a Pod; nil if it has none.
func specOf(object *unstructured.Unstructured) (*corev1.PodSpec, error) {
	fields, found, err := unstructured.NestedMap(object.Object, "spec")
	if !found || err != nil {
		return nil, err //nolint:wrapcheck // The caller names the workload, and the error the field.
	}
	spec := &corev1.PodSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, spec); err != nil {
		return nil, fmt.Errorf("decode the pod spec: %w", err)
	}
	return spec, nil
}

// walked returns what an owner walk reads of an object.
func walked(kind schema.GroupKind, object *unstructured.Unstructured) *affinityclass.Object {
	return &affinityclass.Object{
		Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
		Labels: object.GetLabels(), Owners: object.GetOwnerReferences(),
	}
}

// scheduling returns the spec by which the nodes of the Pod are chosen: that of an existing Pod as it is.
func (p *pod) scheduling() *corev1.PodSpec {
	if p.own != nil {
		return p.own
	}
	return p.spec
}

// notes says what decides about the Pod besides policies, classes and nodes.
func (p *pod) notes() []string {
	var notes []string
	spec := p.scheduling()
	if p.node != "" {
		notes = append(notes, fmt.Sprintf("the Pod is bound to node %s; the nodes are those that fit without that", p.node))
	}
	if spec.SchedulerName != "" && spec.SchedulerName != corev1.DefaultSchedulerName {
		notes = append(notes, fmt.Sprintf("scheduler %s binds the Pods; the nodes are those that kube-scheduler would choose from",
			spec.SchedulerName))
	}

	if len(spec.SchedulingGates) > 0 {
		names := make([]string, 0, len(spec.SchedulingGates))
		for _, gate := range spec.SchedulingGates {
			names = append(names, gate.Name)
		}
		slices.Sort(names)
		notes = append(notes, "the Pod is not scheduled until its schedulingGates are removed: "+strings.Join(names, ", "))
	}

	if len(spec.TopologySpreadConstraints) > 0 || hasPodAffinity(spec) {
		notes = append(notes, "podAffinity, podAntiAffinity and topologySpreadConstraints depend on other Pods and do not count here")
	}
	return notes
}

func hasPodAffinity(spec *corev1.PodSpec) bool {
	return spec.Affinity != nil && (spec.Affinity.PodAffinity != nil || spec.Affinity.PodAntiAffinity != nil)
}
