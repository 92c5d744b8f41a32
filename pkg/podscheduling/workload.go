// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
)

// The kinds that policies are injected into: docs/spec/pod-scheduling-policy.md 2.1.2.
var (
	podKind         = schema.GroupKind{Kind: "Pod"}
	controllerKind  = schema.GroupKind{Kind: "ReplicationController"}
	replicaSetKind  = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	deploymentKind  = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	statefulSetKind = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	daemonSetKind   = schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
	jobKind         = schema.GroupKind{Group: "batch", Kind: "Job"}
	cronJobKind     = schema.GroupKind{Group: "batch", Kind: "CronJob"}
)

// The paths of the pod spec in the kinds.
const (
	podPath      = "/spec"
	templatePath = "/spec/template/spec"
	cronJobPath  = "/spec/jobTemplate/spec/template/spec"
)

// specPaths has the path of the pod spec in each kind, as a JSON pointer.
var specPaths = map[schema.GroupKind]string{
	podKind: podPath, controllerKind: templatePath, replicaSetKind: templatePath, deploymentKind: templatePath,
	statefulSetKind: templatePath, daemonSetKind: templatePath, jobKind: templatePath, cronJobKind: cronJobPath,
}

// Workload is what Inject reads of an object with a pod spec.
type Workload struct {
	Kind schema.GroupKind
	// Name is empty in the review of a new object with generateName.
	Namespace, Name string
	// Labels are those of the pods: a Pod's own, or those of the pod template, never those of a controller.
	Labels map[string]string

	deleting bool
	owner    *metav1.OwnerReference // the controller; nil if there is none
	path     string                 // of the pod spec, as a JSON pointer
	spec     map[string]any         // the fields of the pod spec that Inject reads, without null; nil if the object has no pod spec
}

type (
	objectMeta struct {
		Name              string                  `json:"name"`
		Namespace         string                  `json:"namespace"`
		Labels            map[string]string       `json:"labels"`
		OwnerReferences   []metav1.OwnerReference `json:"ownerReferences"`
		DeletionTimestamp *string                 `json:"deletionTimestamp"`
	}
	podTemplate struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
		Spec *podSpec `json:"spec"`
	}
	podObject struct {
		Metadata objectMeta `json:"metadata"`
		Spec     *podSpec   `json:"spec"`
	}
	templateObject struct {
		Metadata objectMeta `json:"metadata"`
		Spec     struct {
			Template *podTemplate `json:"template"`
		} `json:"spec"`
	}
	cronJobObject struct {
		Metadata objectMeta `json:"metadata"`
		Spec     struct {
			JobTemplate struct {
				Spec struct {
					Template *podTemplate `json:"template"`
				} `json:"spec"`
			} `json:"jobTemplate"`
		} `json:"spec"`
	}
)

// ReadWorkload reads the JSON of an object of one of the kinds of docs/spec/pod-scheduling-policy.md 2.1.2. Fields that it does not need are
// not decoded. An object without a pod spec, such as a ReplicationController without a template, is a Workload that Inject leaves alone.
func ReadWorkload(kind schema.GroupKind, raw []byte) (*Workload, error) {
	w := &Workload{Kind: kind, path: specPaths[kind]}
	var (
		meta     objectMeta
		template *podTemplate
		spec     *podSpec
		err      error
	)
	switch w.path {
	case podPath:
		var object podObject
		err = json.UnmarshalCaseSensitivePreserveInts(raw, &object)
		meta, w.Labels, spec = object.Metadata, object.Metadata.Labels, object.Spec
	case templatePath:
		var object templateObject
		err = json.UnmarshalCaseSensitivePreserveInts(raw, &object)
		meta, template = object.Metadata, object.Spec.Template
	case cronJobPath:
		var object cronJobObject
		err = json.UnmarshalCaseSensitivePreserveInts(raw, &object)
		meta, template = object.Metadata, object.Spec.JobTemplate.Spec.Template
	default:
		return nil, fmt.Errorf("kind %s has no pod spec that policies are injected into", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	if template != nil {
		w.Labels, spec = template.Metadata.Labels, template.Spec
	}
	w.Namespace, w.Name, w.deleting, w.owner = meta.Namespace, meta.Name, meta.DeletionTimestamp != nil, controllerOf(meta.OwnerReferences)
	if spec != nil {
		if w.spec, err = spec.fields(); err != nil {
			return nil, fmt.Errorf("decode %s: %s: %w", kind, w.path, err)
		}
	}

	return w, nil
}

func controllerOf(owners []metav1.OwnerReference) *metav1.OwnerReference {
	return metav1.GetControllerOfNoCopy(&metav1.ObjectMeta{OwnerReferences: owners})
}

// Exemption is a reason why no policy is injected into an object at all.
type Exemption string

// The exemptions.
const (
	// NotExempt is the exemption of an object that policies are injected into.
	NotExempt Exemption = ""
	// NoPodSpec is that of an object without a pod template.
	NoPodSpec Exemption = "the object has no pod template"
	// BeingDeleted is that of an object with a deletionTimestamp, whose finalizers must not be kept from being removed.
	BeingDeleted Exemption = "the object is being deleted"
	// Controlled is that of a ReplicaSet with a controller, which would make another one if the templates differed.
	Controlled Exemption = "the ReplicaSet has the template of its controller"
	// OnlyCreated is that of the update of a Pod or Job, whose pod spec is immutable.
	OnlyCreated Exemption = "the pod spec is immutable after creation"
)

// Exemption returns why no policy is injected when the object is created, or updated.
func (w *Workload) Exemption(update bool) Exemption {
	switch {
	case w.spec == nil:
		return NoPodSpec
	case w.deleting:
		return BeingDeleted
	case w.Kind == replicaSetKind && w.owner != nil:
		return Controlled
	case update && (w.Kind == podKind || w.Kind == jobKind):
		return OnlyCreated
	default:
		return NotExempt
	}
}

// ofDaemonSet reports whether the workload is a Pod of a DaemonSet. The DaemonSet controller chooses the node of such a Pod by the
// template, and replaces the required terms of its node affinity by the name of that node.
func (w *Workload) ofDaemonSet() bool {
	return w.Kind == podKind && w.owner != nil && w.owner.Kind == daemonSetKind.Kind &&
		schema.FromAPIVersionAndKind(w.owner.APIVersion, w.owner.Kind).Group == daemonSetKind.Group
}

// WithoutConstraints returns a workload of the same kind, names, labels and controller whose pod spec has no constraints. What a policy adds
// to it is all that the policy can add.
func (w *Workload) WithoutConstraints() *Workload {
	without := *w
	if w.spec != nil {
		without.spec = map[string]any{}
	}
	return &without
}
