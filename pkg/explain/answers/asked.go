// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clustersets/controller"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
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
func (e *Explainer) Asked(question *endpoint.Question) ([]access.Asked, error) {
	formats := printers.WideFormats()
	if question.Command == endpoint.CommandDiff || question.Command == endpoint.CommandSimulate {
		formats = printers.Formats()
	}
	if !slices.Contains(formats, printers.Format(question.Output)) {
		return nil, fmt.Errorf("output: unknown format %q; use one of %v", question.Output, formats)
	}
	if question.Command == endpoint.CommandHistory {
		return e.askedForHistory(question)
	}
	if question.Command == endpoint.CommandExplain && len(question.Objects) == 0 {
		return []access.Asked{{Verb: access.VerbList, Resource: PlacementResource(api.V1beta1), Namespace: question.Namespace}}, nil
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
func (e *Explainer) askedOfKinds(question *endpoint.Question) ([]access.Asked, error) {
	asked := make([]access.Asked, 0, len(question.Kinds))
	for i, kind := range question.Kinds {
		resource, known := e.ResourceOf(kind.GroupKind())
		if !known || !slices.Contains(e.CategoryOf(question, kind.GroupKind()).ListFor, question.Command) {
			return nil, fmt.Errorf("kinds[%d]: %s shows no objects of the kind %s; leave it out", i, question.Command, kind.GroupKind())
		}
		asked = append(asked, access.Asked{Verb: access.VerbList, Resource: resource, Namespace: question.Namespace})
	}
	for i, workload := range question.Workloads {
		if _, known := pods.KindOfGroup(workload.GroupKind()); !known {
			return nil, fmt.Errorf("workloads[%d]: %s is no kind of workloads; leave it out", i, workload.GroupKind())
		}
	}
	return asked, nil
}

// askedOf returns the rights that permit a question about one of its objects.
func (e *Explainer) askedOf(question *endpoint.Question, i int, object endpoint.Object) ([]access.Asked, error) {
	resource, known := e.ResourceOf(object.GroupKind())
	category := e.CategoryOf(question, object.GroupKind())
	named := slices.Contains(category.GetFor, tools.CommandOf(question))
	switch {
	case !known || question.Command == endpoint.CommandExplain && !named:
		return nil, fmt.Errorf("objects[%d]: the hub does not explain objects of the kind %s; ask for Placements, ClusterRequests or "+
			"workloads or objects of a kind that is delivered to clusters", i, object.GroupKind())
	case question.Command == endpoint.CommandExplain && category.Name != e.CategoryOf(question, question.Objects[0].GroupKind()).Name:
		return nil, fmt.Errorf("objects[%d]: ask for Placements, ClusterRequests, workloads and delivered objects one after the other", i)
	case !named:
		return nil, fmt.Errorf("objects[%d]: %s is not about objects of the kind %s; leave it out", i, question.Command, object.GroupKind())
	}
	if category.Use {
		return []access.Asked{{Verb: access.VerbUse, Resource: resource, Namespace: question.Namespace, Name: object.Name}}, nil
	}
	asked := []access.Asked{{Verb: access.VerbGet, Resource: resource, Namespace: question.Namespace, Name: object.Name}}
	if question.Manifests != "" {
		asked = append(asked,
			access.Asked{Verb: access.VerbCreate, Resource: resource, Namespace: question.Namespace},
			access.Asked{Verb: access.VerbUpdate, Resource: resource, Namespace: question.Namespace, Name: object.Name})
	}
	if category.BindsSet { // A Placement uses the set that has the name of the binding.
		asked = append(asked, access.Asked{
			Verb: access.VerbCreate, Resource: setResource, Subresource: bindSubresource, Name: object.Name, Role: controller.BindRole(object.Name),
		})
	}
	return asked, nil
}

// isPlacements reports whether a kind is that of Placements of one of the APIs.
func isPlacements(kind endpoint.KindRef) bool {
	return slices.ContainsFunc(api.Adapters(), func(adapter api.Adapter) bool { return kind.GroupKind() == adapter.Kind().GroupKind() })
}

// PlacementResource returns the resource of the Placements of an API.
func PlacementResource(adapter api.Adapter) schema.GroupVersionResource {
	return adapter.Kind().GroupVersion().WithResource("placements")
}
