// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clustersets/controller"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// The kinds of objects that are no Placements, workloads or delivered objects.
var (
	requestKind = schema.GroupKind{Group: openmcpv1alpha1.GroupName, Kind: "ClusterRequest"}
	purposeKind = schema.GroupKind{Group: openmcpv1alpha1.GroupName, Kind: "Purpose"}
	bindingKind = schema.GroupKind{Group: clusterv1beta2.GroupName, Kind: "ManagedClusterSetBinding"}
	policyKind  = schema.GroupKind{Group: kupidv1alpha1.GroupName, Kind: "PodSchedulingPolicy"}
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
		if !known || !slices.Contains(shownFamilies(question.Command), e.familyOf(question, kind.GroupKind())) {
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
	switch {
	case !known || question.Command == endpoint.CommandExplain && slices.Contains(manifestFamilies, family):
		return nil, fmt.Errorf("objects[%d]: the hub does not explain objects of the kind %s; ask for Placements, ClusterRequests or "+
			"workloads or objects of a kind that is delivered to clusters", i, object.GroupKind())
	case question.Command == endpoint.CommandExplain && family != e.familyOf(question, question.Objects[0].GroupKind()):
		return nil, fmt.Errorf("objects[%d]: ask for Placements, ClusterRequests, workloads and delivered objects one after the other", i)
	case !slices.Contains(namedFamilies(question), family):
		return nil, fmt.Errorf("objects[%d]: %s is not about objects of the kind %s; leave it out", i, question.Command, object.GroupKind())
	}
	if family == familyPurposes {
		return []access.Asked{{Verb: access.VerbUse, Resource: resource, Namespace: question.Namespace, Name: object.Name}}, nil
	}
	asked := []access.Asked{{Verb: access.VerbGet, Resource: resource, Namespace: question.Namespace, Name: object.Name}}
	if question.Manifests != "" {
		asked = append(asked,
			access.Asked{Verb: access.VerbCreate, Resource: resource, Namespace: question.Namespace},
			access.Asked{Verb: access.VerbUpdate, Resource: resource, Namespace: question.Namespace, Name: object.Name})
	}
	if family == familyBindings { // A Placement uses the set that has the name of the binding.
		asked = append(asked, access.Asked{
			Verb: access.VerbCreate, Resource: setResource, Subresource: bindSubresource, Name: object.Name, Role: controller.BindRole(object.Name),
		})
	}
	return asked, nil
}

// The families of objects. An explanation is of objects of one family.
const (
	familyPlacements = "placements"
	familyRequests   = "requests"
	familyPurposes   = "purposes"
	familyPolicies   = "policies"
	familyBindings   = "bindings"
	familyWorkloads  = "workloads"
	familyDelivered  = "delivered"
)

// manifestFamilies are the families of which manifests have or use objects, and that are not explained.
var manifestFamilies = []string{familyPurposes, familyPolicies, familyBindings}

// namedFamilies are the families of the objects that a question is about by name.
func namedFamilies(question *endpoint.Question) []string {
	switch question.Command {
	case endpoint.CommandDiff:
		return []string{familyPlacements, familyDelivered, familyRequests, familyPurposes, familyBindings, familyPolicies}
	case endpoint.CommandSimulate:
		if question.Manifests != "" {
			return []string{familyWorkloads, familyPolicies}
		}
		return []string{familyPlacements}
	case endpoint.CommandFederated:
		return []string{familyDelivered}
	default:
		return []string{familyPlacements, familyRequests, familyWorkloads, familyDelivered}
	}
}

// shownFamilies are the families of the kinds that a command shows besides.
func shownFamilies(command string) []string {
	switch command {
	case endpoint.CommandDiff:
		return []string{familyDelivered, familyWorkloads}
	case endpoint.CommandSimulate:
		return []string{familyPlacements, familyDelivered}
	case endpoint.CommandFederated:
		return []string{familyDelivered}
	default:
		return nil
	}
}

// familyOf returns the family of a kind. A workload that is delivered is one to explain or to add, and otherwise an object to deliver.
func (e *hubExplainer) familyOf(question *endpoint.Question, kind schema.GroupKind) string {
	runs := question.Command == endpoint.CommandExplain || question.Command == endpoint.CommandSimulate && question.Manifests != ""
	switch {
	case kind == policyKind:
		return familyPolicies
	case kind == bindingKind:
		return familyBindings
	case kind == requestKind:
		return familyRequests
	case kind == purposeKind:
		return familyPurposes
	case slices.ContainsFunc(api.Adapters(), func(adapter api.Adapter) bool { return kind == adapter.Kind().GroupKind() }):
		return familyPlacements
	case !runs && e.delivers(kind):
		return familyDelivered
	}
	if _, known := workloadKind(kind); known {
		return familyWorkloads
	}
	return familyDelivered
}

// workloadKind returns the kind of workloads that has a name.
func workloadKind(named schema.GroupKind) (pods.Kind, bool) {
	for _, kind := range pods.Kinds() {
		if kind.GroupKind() == named {
			return kind, true
		}
	}
	return pods.Kind{}, false
}

func (e *hubExplainer) delivers(kind schema.GroupKind) bool {
	for _, delivered := range e.delivered {
		if kind == delivered.GroupKind() {
			return true
		}
	}
	return false
}

// isPlacements reports whether a kind is that of Placements of one of the APIs.
func isPlacements(kind endpoint.Kind) bool {
	return slices.ContainsFunc(api.Adapters(), func(adapter api.Adapter) bool { return kind.GroupKind() == adapter.Kind().GroupKind() })
}

// resourceOf returns the resource of a kind that the hub explains or compares.
func (e *hubExplainer) resourceOf(kind schema.GroupKind) (schema.GroupVersionResource, bool) {
	switch kind {
	case requestKind:
		return openmcpv1alpha1.GroupVersion.WithResource("clusterrequests"), true
	case bindingKind:
		return bindingResource, true
	case policyKind:
		return kupidv1alpha1.GroupVersion.WithResource("podschedulingpolicies"), true
	case purposeKind:
		return openmcpv1alpha1.GroupVersion.WithResource("purposes"), true
	}
	for _, adapter := range api.Adapters() {
		if kind == adapter.Kind().GroupKind() {
			return placementResource(adapter), true
		}
	}
	if workload, known := workloadKind(kind); known {
		return workload.GroupVersion().WithResource(workload.Resource), true
	}
	for _, delivered := range e.delivered {
		if kind == delivered.GroupKind() {
			return delivered.GroupVersion().WithResource(delivered.Resource), true
		}
	}
	return schema.GroupVersionResource{}, false
}

func placementResource(adapter api.Adapter) schema.GroupVersionResource {
	return adapter.Kind().GroupVersion().WithResource("placements")
}
