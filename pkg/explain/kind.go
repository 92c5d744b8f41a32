// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Concern is a set of results: those that the objects of a kind are inputs of, so that a change of one concerns them.
type Concern uint8

// The results.
const (
	OfPlacements Concern = 1 << iota
	OfDelivery
	OfPods
	OfRequests
)

// Definition says what the objects of a kind in a file are validated by.
type Definition int

const (
	// Required is a CustomResourceDefinition without which no file is read.
	Required Definition = iota
	// Optional is a CustomResourceDefinition of a system that a hub need not have.
	Optional
	// BuiltIn is no CustomResourceDefinition: the metadata, Kind.Check and the type are the rules.
	BuiltIn
)

// Kind is a kind of objects of a State, with what the tools do with it.
type Kind struct {
	// GroupVersionKind is the kind of the API. Without a Version the entry covers all versions, and without a Kind all kinds of its group that
	// are no others of the table.
	schema.GroupVersionKind

	// Concerns are the results that the objects decide about. Objects of a kind without any are accepted in files and left out.
	Concerns   Concern
	Namespaced bool
	// Plural is the kind in messages about several objects; empty for the Kind with the ending s or es.
	Plural string
	// Type is an empty object; nil for a kind of which only the metadata is known. Untyped reports that a State keeps the objects as they were
	// given, once Type can have them, and Open that objects may have fields that Type lacks.
	Type          api.Object
	Untyped, Open bool
	// Definition says what validates an object. NameRule is the rule for names of a BuiltIn kind, nil for DNS subdomains, and Check has its
	// other rules.
	Definition Definition
	NameRule   metavalidation.ValidateNameFunc
	Check      func(object map[string]any) []Finding
	// Reads are the results for which the objects are read from a hub, besides those of the kinds that it delivers, and Limited those for which
	// only objects in the namespaces that are asked about count.
	Reads, Limited Concern
	// IfMissing says what reports about some results lack if the kind is not there or may not be read. A hub must have the kinds of the others.
	IfMissing map[Concern]string
	// InDiff reports that placement diff compares the objects, and InAdd that placement simulate adds them.
	InDiff, InAdd bool
	// Admit returns what admission says of an object among others, which may replace a live one; nil if it admits all.
	Admit func(among *State, live, object api.Object) (field.ErrorList, []string)
	// Equal reports whether two states of an object decide the same; nil compares their specs.
	Equal func(live, object api.Object) bool
	// Preserve returns an object with the fields of the live one that applying it does not change; nil if it changes all.
	Preserve func(live, object api.Object) api.Object

	lists []list
}

// Finding is an error at a field path; the path is empty for the object as a whole.
type Finding struct{ Path, Text string }

// Several returns the kind in messages about several objects.
func (k *Kind) Several() string {
	switch {
	case k.Plural != "":
		return k.Plural
	case strings.HasSuffix(k.Kind, "s"):
		return k.Kind + "es"
	default:
		return k.Kind + "s"
	}
}

// Name returns "Deployment team-a/web" or "Node n1".
func (k *Kind) Name(object api.Object) string {
	name := k.Kind
	if untyped, is := object.(*unstructured.Unstructured); is {
		name = untyped.GetKind()
	}
	return name + " " + strings.TrimPrefix(keyOf(object).String(), "/")
}

// Decode returns the object of valid fields, which it keeps.
func (k *Kind) Decode(fields map[string]any) (api.Object, error) {
	untyped := &unstructured.Unstructured{Object: fields}
	if k.Type == nil {
		return untyped, nil
	}
	typed, is := k.Type.DeepCopyObject().(api.Object)
	if !is {
		return nil, fmt.Errorf("%T is no object", k.Type)
	}

	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, typed, !k.Open); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if k.Untyped {
		EncodeStringData(untyped)
		return untyped, nil
	}
	return typed, nil
}

// Add adds an object to a State, which must not have it. It returns an error for an object of another type.
func (k *Kind) Add(s *State, object api.Object) error { return k.AddFor(^Concern(0), s, object) }

// AddFor adds an object to what of a State decides about some results, as Add does.
func (k *Kind) AddFor(concerns Concern, s *State, object api.Object) error {
	errs := make([]error, 0, len(k.lists))
	for _, list := range k.lists {
		if list.concerns(concerns) {
			errs = append(errs, list.add(s, object))
		}
	}
	return errors.Join(errs...)
}

// has reports whether an object of the lists is of the kind.
func (k *Kind) has(object api.Object) bool {
	untyped, is := object.(*unstructured.Unstructured)
	if !is {
		return reflect.TypeOf(object) == reflect.TypeOf(k.Type)
	}
	return k.is(untyped.GroupVersionKind())
}

// is reports whether a kind of the API is this one.
func (k *Kind) is(gvk schema.GroupVersionKind) bool {
	return k.Group == gvk.Group && (k.Version == "" || k.Version == gvk.Version) && (k.Kind == "" || k.Kind == gvk.Kind)
}

// Find returns the object of a State that has the kind, namespace and name of another; nil if there is none.
func (k *Kind) Find(s *State, object api.Object) api.Object {
	for _, list := range k.lists {
		if found := list.find(s, object); found != nil {
			return found
		}
	}
	return nil
}

// equal reports whether a live object and the one that replaces it decide the same.
func (k *Kind) equal(live, object api.Object) bool {
	if k.Equal != nil {
		return k.Equal(live, object)
	}
	return apiequality.Semantic.DeepEqual(specOf(live), specOf(object))
}

func specOf(object api.Object) any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil { // It equals no other.
		return err //nolint:wrapcheck // Nobody reads it.
	}
	return fields["spec"]
}

// Each yields the objects of a State that decide about some results: in the order of State.Kinds, and those of kinds that share a list in its order.
func (s *State) Each(concerns Concern) iter.Seq2[*Kind, api.Object] {
	return func(yield func(*Kind, api.Object) bool) {
		wanted := slices.DeleteFunc(slices.Clone(s.Kinds()), func(kind *Kind) bool { return kind.Concerns&concerns == 0 })
		for len(wanted) > 0 {
			shared := wanted[0].lists[0]
			others := slices.IndexFunc(wanted, func(kind *Kind) bool { return kind.lists[0] != shared })
			sharing := wanted[:cmp.Or(max(others, 0), len(wanted))]
			wanted = wanted[len(sharing):]
			for _, object := range shared.all(s) {
				at := slices.IndexFunc(sharing, func(kind *Kind) bool { return kind.has(object) })
				if at >= 0 && !yield(sharing[at], object) {
					return
				}
			}
		}
	}
}

// Names returns the kinds and names of the objects that decide about some results: "Node n1", "Deployment team-a/web".
func (s *State) Names(concerns Concern) []string {
	var names []string
	for kind, object := range s.Each(concerns) {
		names = append(names, kind.Name(object))
	}
	return names
}

// Has reports whether there is an object that decides about some results.
func (s *State) Has(concerns Concern) bool {
	for range s.Each(concerns) {
		return true
	}
	return false
}
