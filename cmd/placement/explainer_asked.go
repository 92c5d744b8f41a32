// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clustersets/controller"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// The kinds of objects that are no Placements, workloads or delivered objects.
var (
	requestKind = openmcpv1alpha1.GroupVersion.WithKind("ClusterRequest")
	purposeKind = openmcpv1alpha1.GroupVersion.WithKind("Purpose")
	bindingKind = schema.GroupVersion(clusterv1beta2.GroupVersion).WithKind("ManagedClusterSetBinding")
	policyKind  = kupidv1alpha1.GroupVersion.WithKind("PodSchedulingPolicy")
)

// The resources of sets and of their bindings.
var (
	setResource     = schema.GroupVersion(clusterv1beta2.GroupVersion).WithResource("managedclustersets")
	bindingResource = schema.GroupVersion(clusterv1beta2.GroupVersion).WithResource("managedclustersetbindings")
)

// bindSubresource is the subresource of a set that admission asks for where a binding is created.
const bindSubresource = "bind"

// Asked implements endpoint.Explainer: the verb get on each object, for manifests create and update too, use on the Purposes of ClusterRequests,
// create on managedclustersets/bind for the sets of bindings, list on each kind, and delete on the bindings that are left out. The list of
// unsatisfied Placements takes list on the Placements of the namespace.
func (e *hubExplainer) Asked(question *endpoint.Question) ([]access.Asked, error) {
	formats := printers.WideFormats()
	if question.Command == endpoint.CommandDiff || question.Command == endpoint.CommandSimulate {
		formats = printers.Formats()
	}
	if !slices.Contains(formats, printers.Format(question.Output)) {
		return nil, fmt.Errorf("output: unknown format %q; use one of %v", question.Output, formats)
	}
	if question.Command == endpoint.CommandExplain && len(question.Objects) == 0 {
		return []access.Asked{{Verb: access.VerbList, Resource: placementResource(api.V1beta1), Namespace: question.Namespace}}, nil
	}
	if question.Command == endpoint.CommandSimulate && len(question.Objects) == 0 && !slices.ContainsFunc(question.Kinds, isPlacements) {
		return nil, errors.New("objects, kinds: name the Placements to simulate, or their kind")
	}
	asked := make([]access.Asked, 0, len(question.Objects)+len(question.Kinds)+len(question.WithoutBindings))
	for i, object := range question.Objects {
		more, err := e.askedOf(question, i, object)
		if err != nil {
			return nil, err
		}
		asked = append(asked, more...)
	}
	of, err := e.askedOfKinds(question)
	if err != nil {
		return nil, err
	}
	asked = append(asked, of...)
	for _, set := range question.WithoutBindings {
		asked = append(asked, access.Asked{Verb: access.VerbDelete, Resource: bindingResource, Namespace: question.Namespace, Name: set})
	}
	return asked, nil
}

// askedOfKinds returns the rights that permit to show the objects of the kinds of a question. The workloads that it names are among them.
func (e *hubExplainer) askedOfKinds(question *endpoint.Question) ([]access.Asked, error) {
	asked := make([]access.Asked, 0, len(question.Kinds))
	for i, kind := range question.Kinds {
		resource, known := e.resourceOf(kind.GroupKind())
		if !known || !slices.Contains(e.familyOf(question, kind.GroupKind()).shown, question.Command) {
			return nil, fmt.Errorf("kinds[%d]: %s shows no objects of the kind %s; leave it out", i, question.Command, kind.GroupKind())
		}
		asked = append(asked, access.Asked{Verb: access.VerbList, Resource: resource, Namespace: question.Namespace})
	}
	for i, workload := range question.Workloads {
		if _, known := workloadKind(workload.GroupKind()); !known {
			return nil, fmt.Errorf("workloads[%d]: %s is no kind of workloads; leave it out", i, workload.GroupKind())
		}
	}
	return asked, nil
}

// askedOf returns the rights that permit a question about one of its objects.
func (e *hubExplainer) askedOf(question *endpoint.Question, i int, object endpoint.Object) ([]access.Asked, error) {
	resource, known := e.resourceOf(object.GroupKind())
	family := e.familyOf(question, object.GroupKind())
	named := slices.Contains(family.named, commandOf(question))
	switch {
	case !known || question.Command == endpoint.CommandExplain && !named:
		return nil, fmt.Errorf("objects[%d]: the hub does not explain objects of the kind %s; ask for Placements, ClusterRequests or "+
			"workloads or objects of a kind that is delivered to clusters", i, object.GroupKind())
	case question.Command == endpoint.CommandExplain && family.name != e.familyOf(question, question.Objects[0].GroupKind()).name:
		return nil, fmt.Errorf("objects[%d]: ask for Placements, ClusterRequests, workloads and delivered objects one after the other", i)
	case !named:
		return nil, fmt.Errorf("objects[%d]: %s is not about objects of the kind %s; leave it out", i, question.Command, object.GroupKind())
	}
	if family.used {
		return []access.Asked{{Verb: access.VerbUse, Resource: resource, Namespace: question.Namespace, Name: object.Name}}, nil
	}
	asked := []access.Asked{{Verb: access.VerbGet, Resource: resource, Namespace: question.Namespace, Name: object.Name}}
	if question.Manifests != "" {
		asked = append(asked,
			access.Asked{Verb: access.VerbCreate, Resource: resource, Namespace: question.Namespace},
			access.Asked{Verb: access.VerbUpdate, Resource: resource, Namespace: question.Namespace, Name: object.Name})
	}
	if family.bound { // A Placement uses the set that has the name of the binding.
		asked = append(asked, access.Asked{
			Verb: access.VerbCreate, Resource: setResource, Subresource: bindSubresource, Name: object.Name, Role: controller.BindRole(object.Name),
		})
	}
	return asked, nil
}

// commandAdd is the command of a question that simulates added manifests.
const commandAdd = "add"

// commandOf returns the command of a question, by which objects are chosen.
func commandOf(question *endpoint.Question) string {
	if question.Command == endpoint.CommandSimulate && question.Manifests != "" {
		return commandAdd
	}
	return question.Command
}

// The families of objects that have a tool. An explanation is of objects of one family.
const (
	familyPlacements = "placements"
	familyRequests   = "requests"
	familyWorkloads  = "workloads"
	familyDelivered  = "delivered"
)

// family are objects that questions are about.
type family struct {
	name string
	// named are the commands that are about objects that a question names, and shown those that show all objects of a kind besides.
	named, shown []string
	// used reports that manifests use the objects, which takes the verb use alone, and bound that they bind sets of the names of the objects.
	used, bound bool
	// kinds returns the kinds of the objects, on a hub that delivers some.
	kinds func(delivered []federation.FederatedKind) []schema.GroupVersionKind
}

// families is the table of the families.
var families = []family{
	{
		name: familyPlacements, named: []string{endpoint.CommandExplain, endpoint.CommandDiff, endpoint.CommandSimulate},
		shown: []string{endpoint.CommandSimulate}, kinds: kindsAre(placementKinds()...),
	},
	{name: familyRequests, named: []string{endpoint.CommandExplain, endpoint.CommandDiff}, kinds: kindsAre(requestKind)},
	{name: "purposes", named: []string{endpoint.CommandDiff}, used: true, kinds: kindsAre(purposeKind)},
	{name: "policies", named: []string{endpoint.CommandDiff, commandAdd}, kinds: kindsAre(policyKind)},
	{name: "bindings", named: []string{endpoint.CommandDiff}, bound: true, kinds: kindsAre(bindingKind)},
	{
		name: familyWorkloads, named: []string{endpoint.CommandExplain, commandAdd}, shown: []string{endpoint.CommandDiff},
		kinds: kindsAre(withWorkloads(nil)...),
	},
	{
		name: familyDelivered, named: []string{endpoint.CommandExplain, endpoint.CommandDiff, endpoint.CommandFederated},
		shown: []string{endpoint.CommandDiff, endpoint.CommandSimulate, endpoint.CommandFederated}, kinds: kindsOf,
	},
}

// kindsAre returns kinds that are the same on every hub, and kindsOf those that a hub delivers.
func kindsAre(kinds ...schema.GroupVersionKind) func([]federation.FederatedKind) []schema.GroupVersionKind {
	return func([]federation.FederatedKind) []schema.GroupVersionKind { return kinds }
}

func kindsOf(delivered []federation.FederatedKind) []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, len(delivered))
	for _, kind := range delivered {
		kinds = append(kinds, kind.GroupVersionKind)
	}
	return kinds
}

// familyOf returns the family of a kind that a question names; see familyIn.
func (e *hubExplainer) familyOf(question *endpoint.Question, kind schema.GroupKind) family {
	return familyIn(e.delivered, commandOf(question), kind)
}

// familyIn returns the family of a kind, and of a workload that is delivered the one that a command is about; empty if there is none.
func familyIn(delivered []federation.FederatedKind, command string, kind schema.GroupKind) family {
	var found family
	for _, each := range families {
		of := slices.ContainsFunc(each.kinds(delivered), func(other schema.GroupVersionKind) bool { return other.GroupKind() == kind })
		switch {
		case of && slices.Contains(each.named, command):
			return each
		case of && (found.name == "" || slices.Contains(each.shown, command)):
			found = each
		}
	}
	return found
}

// objectsIn returns the namespaces of the objects of files, and the objects as a question of a command names them; false if the command is not about
// one of them.
func objectsIn(
	given *explain.State, delivered []federation.FederatedKind, command string,
) (namespaces []string, objects []endpoint.Object, all bool) {
	for kind, object := range given.Each(^explain.Concern(0)) {
		of := familyIn(delivered, command, kind.GroupKind())
		if !slices.Contains(of.named, command) || of.used {
			return nil, nil, false
		}
		namespaces = append(namespaces, object.GetNamespace())
		objects = append(objects, endpoint.Object{Group: kind.Group, Kind: kind.Kind, Name: object.GetName()})
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces), objects, true
}

// workloadKind returns the kind of workloads that has a name.
func workloadKind(named schema.GroupKind) (pods.WorkloadKind, bool) {
	for _, kind := range pods.Kinds() {
		if kind.GroupKind() == named {
			return kind, true
		}
	}
	return pods.WorkloadKind{}, false
}

func (e *hubExplainer) delivers(kind schema.GroupKind) bool {
	return slices.ContainsFunc(e.delivered, func(delivered federation.FederatedKind) bool { return kind == delivered.GroupKind() })
}

// isPlacements reports whether a kind is that of Placements of one of the APIs.
func isPlacements(kind endpoint.KindRef) bool {
	return slices.ContainsFunc(api.Adapters(), func(adapter api.Adapter) bool { return kind.GroupKind() == adapter.Kind().GroupKind() })
}

// resourceOf returns the resource of a kind that the hub explains or compares.
func (e *hubExplainer) resourceOf(kind schema.GroupKind) (schema.GroupVersionResource, bool) {
	for _, delivered := range e.delivered { // The API server has named the resources of these kinds.
		if kind == delivered.GroupKind() {
			return delivered.GroupVersion().WithResource(delivered.Resource), true
		}
	}
	for _, each := range families {
		for _, known := range each.kinds(nil) {
			if kind == known.GroupKind() {
				resource, _ := meta.UnsafeGuessKindToResource(known)
				return resource, true
			}
		}
	}
	return schema.GroupVersionResource{}, false
}

func placementResource(adapter api.Adapter) schema.GroupVersionResource {
	return adapter.Kind().GroupVersion().WithResource("placements")
}
