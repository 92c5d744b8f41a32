// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// CommandAdd is the command of a question that simulates added manifests.
const CommandAdd = "add"

// Category are kinds that questions are about in the same way, as a category of kubectl is kinds with one name. An explanation is of objects of one
// category.
type Category struct {
	Name string
	// GetFor are the commands whose questions name objects of the category, which takes the verb get on each. ListFor are the commands whose answers
	// show all objects of a kind besides, which takes the verb list.
	GetFor, ListFor []string
	// Use reports that manifests use the objects, which takes the verb use on them alone.
	Use bool
	// BindsSet reports that an object binds the ManagedClusterSet of its name, which takes the right to bind that set.
	BindsSet bool
	// Kinds returns the kinds of the objects, on a hub that delivers some.
	Kinds func(delivered []federation.FederatedKind) []schema.GroupVersionKind
}

// categories returns the categories of all systems, the last system first: of a workload that is delivered, that of workloads is the first.
func categories() []Category {
	var all []Category
	for _, each := range slices.Backward(systems) {
		all = append(all, each.Categories()...)
	}
	return all
}

// kindsAre returns kinds that are the same on every hub.
func kindsAre(kinds ...schema.GroupVersionKind) func([]federation.FederatedKind) []schema.GroupVersionKind {
	return func([]federation.FederatedKind) []schema.GroupVersionKind { return kinds }
}

// CategoryIn returns the category of a kind, and of a workload that is delivered the one that a command is about; empty if there is none.
func CategoryIn(delivered []federation.FederatedKind, command string, kind schema.GroupKind) Category {
	var found Category
	for _, each := range categories() {
		of := slices.ContainsFunc(each.Kinds(delivered), func(other schema.GroupVersionKind) bool { return other.GroupKind() == kind })
		switch {
		case of && slices.Contains(each.GetFor, command):
			return each
		case of && (found.Name == "" || slices.Contains(each.ListFor, command)):
			found = each
		}
	}
	return found
}

// KindsFor returns the kinds whose objects a command is about, in the order of the systems.
func KindsFor(delivered []federation.FederatedKind, command string) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, system := range systems {
		for _, each := range system.Categories() {
			if slices.Contains(each.GetFor, command) {
				kinds = append(kinds, each.Kinds(delivered)...)
			}
		}
	}
	return kinds
}

// CategoryOf returns the category of a kind that a question names; see CategoryIn.
func (h *Hub) CategoryOf(question *endpoint.Question, kind schema.GroupKind) Category {
	return CategoryIn(h.Delivered, CommandOf(question), kind)
}

// CommandOf returns the command of a question, by which objects are chosen.
func CommandOf(question *endpoint.Question) string {
	if question.Command == endpoint.CommandSimulate && question.Manifests != "" {
		return CommandAdd
	}
	return question.Command
}

// ResourceOf returns the resource of a kind that the hub explains or compares; false if it does neither.
func (h *Hub) ResourceOf(kind schema.GroupKind) (schema.GroupVersionResource, bool) {
	for _, delivered := range h.Delivered { // The API server has named the resources of these kinds.
		if kind == delivered.GroupKind() {
			return delivered.GroupVersion().WithResource(delivered.Resource), true
		}
	}
	for _, each := range categories() {
		for _, known := range each.Kinds(nil) {
			if kind == known.GroupKind() {
				resource, _ := meta.UnsafeGuessKindToResource(known)
				return resource, true
			}
		}
	}
	return schema.GroupVersionResource{}, false
}

// objectsIn returns the namespaces of the objects of files, and the objects as a question of a command names them; false if the command is not about
// one of them.
func objectsIn(
	given *explain.State, delivered []federation.FederatedKind, command string,
) (namespaces []string, objects []endpoint.Object, about bool) {
	for kind, object := range given.Each(^explain.Concern(0)) {
		of := CategoryIn(delivered, command, kind.GroupKind())
		if !slices.Contains(of.GetFor, command) || of.Use {
			return nil, nil, false
		}
		namespaces = append(namespaces, object.GetNamespace())
		objects = append(objects, endpoint.Object{Group: kind.Group, Kind: kind.Kind, Name: object.GetName()})
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces), objects, true
}

// errNotCompared refuses files with objects of kinds that the hub does not compare.
var errNotCompared = errors.New("the hub compares Placements, ManagedClusterSetBindings, objects that are delivered, PodSchedulingPolicies and " +
	"ClusterRequests, and the files have other objects")

// ObjectsToCompare returns the one namespace of the objects of files, and the objects that a question about them names: each of them, and the
// Purposes that the ClusterRequests use.
func ObjectsToCompare(given *explain.State, delivered []federation.FederatedKind) (namespace string, objects []endpoint.Object, err error) {
	namespaces, objects, about := objectsIn(given, delivered, endpoint.CommandDiff)
	if !about {
		return "", nil, errNotCompared
	}
	objects = append(objects, purposesIn(given)...)
	if len(namespaces) != 1 {
		return "", nil, fmt.Errorf("the hub compares the objects of one namespace at a time, and the files have %d", len(namespaces))
	}
	return namespaces[0], objects, nil
}

// ObjectsToAdd returns the one namespace of the objects that files add, and the objects as a question names them.
func ObjectsToAdd(added *explain.State, delivered []federation.FederatedKind) (namespace string, objects []endpoint.Object, err error) {
	namespaces, objects, about := objectsIn(added, delivered, CommandAdd)
	switch {
	case !about:
		return "", nil, errors.New("--add: the hub adds workloads and PodSchedulingPolicies, and the files have other objects; what changes the " +
			"fleet takes the ClusterRole " + hubstate.FleetViewRole + ", and placement diff compares ClusterRequests")
	case len(namespaces) != 1:
		return "", nil, fmt.Errorf("--add: the hub adds objects of one namespace at a time, and the files have %d", len(namespaces))
	default:
		return namespaces[0], objects, nil
	}
}
