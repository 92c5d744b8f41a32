// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

// Evaluator evaluates workloads among the objects that it was made of. It is safe for concurrent use if the functions of the Objects are.
type Evaluator struct {
	objects    *Objects
	prepared   []*podscheduling.Policy // in the order of their application
	policies   *podscheduling.Policies
	namespaces map[string]map[string]string // labels by name
	recorded   map[string]string            // affinityclass.AllowedAnnotation by name
	class      affinityclass.Classes
	tree       *affinityclass.Tree
	owners     map[owner]*unstructured.Unstructured
}

// NewEvaluator prepares the policies and arranges the other objects, which must not change while the Evaluator is used.
func NewEvaluator(objects *Objects) *Evaluator {
	e := &Evaluator{
		objects: objects, namespaces: map[string]map[string]string{}, recorded: map[string]string{},
		class: affinityclass.ClassesOf(objects.Classes), tree: affinityclass.NewTree(objects.Tenants), owners: ownersOf(objects),
	}
	for _, policy := range objects.ClusterPolicies {
		e.prepared = append(e.prepared, podscheduling.NewClusterPolicy(policy))
	}
	for _, policy := range objects.Policies {
		e.prepared = append(e.prepared, podscheduling.NewPolicy(policy))
	}

	slices.SortFunc(e.prepared, func(a, b *podscheduling.Policy) int {
		return cmp.Or(cmp.Compare(a.Kind(), b.Kind()), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	e.policies = podscheduling.NewPolicies(e.prepared)
	for _, namespace := range objects.Namespaces {
		e.namespaces[namespace.Name], e.recorded[namespace.Name] = namespace.Labels, namespace.Annotations[affinityclass.AllowedAnnotation]
	}
	return e
}

// namespaceLabels returns the labels of a namespace, with the one that every API server adds.
func (e *Evaluator) namespaceLabels(name string) map[string]string {
	labels := maps.Clone(e.namespaces[name])
	if labels == nil {
		labels = map[string]string{}
	}
	labels[corev1.LabelMetadataName] = name
	return labels
}

// admission is the admission of a workload that is evaluated.
type admission int

const (
	// creation is the admission of an object that does not exist yet.
	creation admission = iota
	// existing is none: the object is there, and a Pod of its template is created now.
	existing
	// nextAdmission is the next update of an existing object, or for a Pod or Job the creation of the same one.
	nextAdmission
)

// evaluation is what admission makes of one workload.
type evaluation struct {
	kind      WorkloadKind
	object    *unstructured.Unstructured
	admission admission
	workload  *podscheduling.Workload
	// exempt says why no policy is injected into the object; empty if policies are.
	exempt string
	result podscheduling.Result
	// injected is the object with what the policies add at its creation or next update.
	injected *unstructured.Unstructured
	// pod is the Pod that is created now, with what the policies add to that; nil if the workload has no pod spec.
	pod *pod
}

// evaluateAs applies the policies to a workload, and to the Pod that follows from it.
func (e *Evaluator) evaluateAs(object *unstructured.Unstructured, as admission) (*evaluation, error) {
	kind, known := KindOf(object.GroupVersionKind())
	if !known {
		return nil, fmt.Errorf("%s has no Pods that policies or classes apply to", object.GroupVersionKind())
	}
	workload, err := read(kind, object)
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s: %w", kind.Kind, object.GetNamespace(), object.GetName(), err)
	}

	ev := &evaluation{
		kind: kind, object: object, admission: as, workload: workload, exempt: string(workload.Exemption(false)), injected: object,
	}
	if ev.exempt == "" {
		ev.exempt = e.notReviewed(kind, object, as)
	}

	if ev.exempt == "" {
		ev.result = podscheduling.Inject(workload, e.matching(workload))
		if ev.injected, err = patched(object, &ev.result); err != nil {
			return nil, fmt.Errorf("%s %s/%s: %w", kind.Kind, object.GetNamespace(), object.GetName(), err)
		}
	}
	if ev.pod, err = e.podOf(ev); err != nil {
		return nil, fmt.Errorf("%s %s/%s: %w", kind.Kind, object.GetNamespace(), object.GetName(), err)
	}
	return ev, nil
}

// matching returns the policies that apply to the Pods of a workload.
func (e *Evaluator) matching(workload *podscheduling.Workload) []*podscheduling.Policy {
	return e.policies.Matching(workload.Namespace, e.namespaceLabels(workload.Namespace), workload.Labels)
}

// read reads a workload from an object.
func read(kind WorkloadKind, object *unstructured.Unstructured) (*podscheduling.Workload, error) {
	raw, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return podscheduling.ReadWorkload(kind.GroupKind(), raw)
}

// Explain reports where the Pods of a workload may run that exists, or with isNew is to be created. The error names the workload: its
// fields have types that no pod spec has.
func (e *Evaluator) Explain(object *unstructured.Unstructured, isNew bool) (Report, error) {
	as := existing
	if isNew {
		as = creation
	}
	ev, err := e.evaluateAs(object, as)
	if err != nil {
		return Report{}, err
	}
	return e.report(ev), nil
}

// NewReports explains workloads that exist.
func NewReports(objects *Objects, workloads []*unstructured.Unstructured) (Reports, error) {
	found, err := explainAll(objects, workloads, func(*unstructured.Unstructured) bool { return false })
	return Reports{Workloads: found, Notes: objects.Missing}, err
}

// NewFileReports explains workloads of files. One with a UID exists already, and any other is to be created.
func NewFileReports(objects *Objects, workloads []*unstructured.Unstructured) ([]Report, error) {
	return explainAll(objects, workloads, func(workload *unstructured.Unstructured) bool { return workload.GetUID() == "" })
}

func explainAll(objects *Objects, workloads []*unstructured.Unstructured, isNew func(*unstructured.Unstructured) bool) ([]Report, error) {
	evaluator := NewEvaluator(objects)
	reports := make([]Report, 0, len(workloads))
	for _, workload := range workloads {
		report, err := evaluator.Explain(workload, isNew(workload))
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}

func (e *Evaluator) report(ev *evaluation) Report {
	report := Report{
		Kind: ev.kind.Kind, Namespace: ev.object.GetNamespace(), Name: ev.object.GetName(), New: ev.admission == creation,
		Exempt: ev.exempt, Policies: e.explainPolicies(ev),
	}
	if ev.admission != creation {
		report.Drift = drift(ev)
	}
	if ev.pod == nil {
		return report
	}

	report.Class = e.explainClass(ev)
	report.Notes = ev.pod.notes()
	if !e.objects.unread("Node") {
		report.Nodes = explainNodes(ev.pod, e.objects.Nodes)
	}
	return report
}
