// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Objects are the objects of a hub that decide about delivery, besides clusters, sets, bindings and Placements. The order of each list does
// not matter.
type Objects struct {
	// Kinds are the delivered kinds; nil means federation.DefaultKinds.
	Kinds []federation.FederatedKind
	// HubNamespace is the namespace of the hub.
	HubNamespace string
	// Limit is the removal budget of the hub, which is unknown without a percentage.
	Limit removalbudget.Limit
	// Namespaces are those of the objects.
	Namespaces []*corev1.Namespace
	// Objects are objects of Kinds.
	Objects []*unstructured.Unstructured
	// Works are the ManifestWorks with the label federation.ManagedLabel, and those of others that have the name of one.
	Works []*workv1.ManifestWork
	// WorksUnguarded reports that others may change the works; see federation.View.
	WorksUnguarded bool
	// WithoutNamespace are clusters whose namespace does not exist, so that no work can be created there. It is known only where all Namespaces
	// are read, and empty otherwise.
	WithoutNamespace []string
	// WorksUnread reports that the works could not be read, and KindsUnread are the kinds of which no object could be read.
	WorksUnread bool
	KindsUnread []string
	// Forbidden reports that the user may not read one of the kinds.
	Forbidden bool
	// Missing has a sentence for each kind that could not be read, with what that means for the reports.
	Missing []string
}

// Delivers reports whether there is an object in a namespace that takes part.
func (o *Objects) Delivers() bool {
	return slices.ContainsFunc(o.Objects, func(object *unstructured.Unstructured) bool { return o.TakesPart(object.GetNamespace()) })
}

// kinds returns the delivered kinds.
func (o *Objects) kinds() []federation.FederatedKind {
	if o.Kinds == nil {
		return federation.DefaultKinds()
	}
	return o.Kinds
}

// kindOf returns the delivered kind of an object.
func (o *Objects) kindOf(object *unstructured.Unstructured) (federation.FederatedKind, bool) {
	return o.KindOf(object.GroupVersionKind())
}

// KindOf returns the delivered kind; false if objects of the kind are not delivered.
func (o *Objects) KindOf(gvk schema.GroupVersionKind) (federation.FederatedKind, bool) {
	kinds := o.kinds()
	at := slices.IndexFunc(kinds, func(kind federation.FederatedKind) bool { return kind.GroupVersionKind == gvk })
	if at < 0 {
		return federation.FederatedKind{}, false
	}
	return kinds[at], true
}

// namespace returns the metadata of a Namespace; nil if it is not known.
func (o *Objects) namespace(name string) *metav1.ObjectMeta {
	for _, namespace := range o.Namespaces {
		if namespace.Name == name {
			return &namespace.ObjectMeta
		}
	}
	return nil
}

// TakesPart reports whether the objects of a namespace are delivered, or were before: it has the label, or a work is of one of its objects.
func (o *Objects) TakesPart(namespace string) bool {
	meta := o.namespace(namespace)
	return meta != nil && meta.Labels[federation.FederatedLabel] == "true" ||
		slices.ContainsFunc(o.Works, func(work *workv1.ManifestWork) bool { return work.Labels[federation.NamespaceLabel] == namespace })
}

// writable returns the plan of an evaluated object without the clusters that have no namespace for its work: as on the hub, such a cluster gains
// nothing, so that it replaces no other one, and none waits for it.
func (o *Objects) writable(e *Evaluation) federation.WorkPlan {
	plan := e.Plan
	plan.Gain = slices.DeleteFunc(slices.Clone(plan.Gain), func(cluster string) bool {
		has := slices.ContainsFunc(e.Works, func(work federation.ExistingWork) bool { return work.Cluster == cluster })
		return !has && slices.Contains(o.WithoutNamespace, cluster)
	})
	return plan
}

// Key returns the key of an object of a delivered kind.
func Key(kind federation.FederatedKind, namespace, name string) inventory.Key {
	object := federation.Object{Kind: kind, Meta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return object.Key()
}

// find returns the object of a key; nil if there is none.
func (o *Objects) find(key inventory.Key) *unstructured.Unstructured {
	for _, object := range o.Objects {
		if kind, known := o.kindOf(object); known && Key(kind, object.GetNamespace(), object.GetName()) == key {
			return object
		}
	}
	return nil
}

// Has reports whether the object of a key exists.
func (o *Objects) Has(key inventory.Key) bool { return o.find(key) != nil }

// Request returns the request of an object with a selector; nil if there is no such object, if it follows a Placement, or if its selector is
// invalid.
func (o *Objects) Request(compiler *selector.Compiler, key inventory.Key) *scheduling.Request {
	object, namespace := o.find(key), o.namespace(key.Namespace)
	if object == nil || namespace == nil {
		return nil
	}
	target, err := federation.Choose(object.GetAnnotations(), namespace.Annotations)
	if err != nil {
		return nil
	}

	request, err := target.Request(compiler, key)
	if err != nil {
		return nil
	}
	return request
}

// Placements returns the Placements that objects follow.
func (o *Objects) Placements() map[types.NamespacedName]bool {
	named := map[types.NamespacedName]bool{}
	for _, object := range o.Objects {
		var defaults map[string]string
		if namespace := o.namespace(object.GetNamespace()); namespace != nil {
			defaults = namespace.Annotations
		}
		if target, err := federation.Choose(object.GetAnnotations(), defaults); err == nil && target.Placement != "" {
			named[types.NamespacedName{Namespace: object.GetNamespace(), Name: target.Placement}] = true
		}
	}
	return named
}

// prepared is an object, with what of it does not depend on others.
type prepared struct {
	object    federation.Object
	namespace *metav1.ObjectMeta
	works     []federation.ExistingWork
	// hash returns the hash of the works of a Variant.
	hash func(federation.Variant) (string, error)
}

// prepare returns the objects, sorted by namespace, name and kind, and the problems of those that cannot be evaluated.
func (o *Objects) prepare() (all []*prepared, problems map[inventory.Key]string, stray []string) {
	works := map[string][]*workv1.ManifestWork{}
	for _, work := range o.Works {
		works[work.Name] = append(works[work.Name], work)
	}
	problems = map[inventory.Key]string{}

	for _, object := range o.Objects {
		kind, known := o.kindOf(object)
		if !known {
			continue
		}
		p, err := o.prepareOne(kind, object, works)
		if err != nil {
			problems[p.object.Key()] = err.Error()
		}
		all = append(all, p)
		delete(works, p.object.Identity().WorkName())
	}

	slices.SortFunc(all, func(a, b *prepared) int { return a.object.Key().Compare(b.object.Key()) })
	return all, problems, o.strayWorks(works)
}

func (o *Objects) prepareOne(
	kind federation.FederatedKind, object *unstructured.Unstructured, works map[string][]*workv1.ManifestWork,
) (*prepared, error) {
	p := &prepared{object: federation.Object{Kind: kind}, namespace: o.namespace(object.GetNamespace())}
	p.object.Meta = metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), Generation: object.GetGeneration(),
		Labels: object.GetLabels(), Annotations: object.GetAnnotations(), Finalizers: object.GetFinalizers(),
		DeletionTimestamp: object.GetDeletionTimestamp(), OwnerReferences: object.GetOwnerReferences(),
	}

	body, payload := federation.BodyOf(kind, object)
	p.object.Body, p.hash = body, hasher(payload)
	identity := p.object.Identity()
	var err error
	if p.works, err = federation.ExistingWorksOf(identity, works[identity.WorkName()]); err != nil {
		return p, fmt.Errorf("reading its works: %w", err)
	}
	slices.SortFunc(p.works, func(a, b federation.ExistingWork) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return p, nil
}

// excluded returns why an object without works is never delivered, as federation.Evaluate does; empty if it may be delivered.
func (o *Objects) excluded(p *prepared) string {
	if len(p.works) > 0 {
		return ""
	}
	if p.namespace != nil {
		if why := federation.ExcludedNamespace(p.namespace.Name, o.HubNamespace, p.namespace.Labels, false); why != "" {
			return "the Namespace " + p.namespace.Name + " " + why
		}
	}

	if why := p.object.Body.Excluded; why != "" {
		return p.object.Identity().String() + " " + why
	}
	return ""
}

// hasher returns a function for the hashes of the works of a payload, which computes each once.
func hasher(payload *federation.Payload) func(federation.Variant) (string, error) {
	known := map[federation.Variant]string{}
	return func(variant federation.Variant) (string, error) {
		if hash, found := known[variant]; found {
			return hash, nil
		}
		work, err := payload.Work("", variant)
		if err != nil {
			return "", fmt.Errorf("%s: %w", payload.Identity(), err)
		}
		known[variant] = work.Annotations[federation.HashAnnotation]
		return known[variant], nil
	}
}

// strayWorks returns a sentence for each object that does not exist and has works, and for each kind that is not delivered and has works. It
// returns none of objects while a kind could not be read.
func (o *Objects) strayWorks(works map[string][]*workv1.ManifestWork) []string {
	clusters, others := map[string][]string{}, map[string]int{}
	for _, left := range works {
		for _, work := range left {
			of := work.Annotations[federation.ObjectAnnotation]
			kind, _, valid := federation.ParseObject(of)
			switch {
			case o.namespace(work.Labels[federation.NamespaceLabel]) == nil:
			case valid && !slices.ContainsFunc(o.kinds(), func(known federation.FederatedKind) bool { return known.GroupKind().String() == kind }):
				others[kind]++
			case len(o.KindsUnread) == 0:
				clusters[of] = append(clusters[of], work.Namespace)
			}
		}
	}

	stray := make([]string, 0, len(clusters)+len(others))
	for kind, count := range others {
		stray = append(stray, fmt.Sprintf("there are %d ManifestWorks of objects of the kind %s, which is not read here: name it with "+
			"--federated-kinds if the hub delivers it", count, kind))
	}
	for of, in := range clusters {
		slices.Sort(in)
		stray = append(stray, fmt.Sprintf("%s does not exist, and has a ManifestWork in %s", of, strings.Join(in, ", ")))
	}
	slices.Sort(stray)
	return stray
}
