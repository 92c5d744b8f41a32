// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
)

// classField is the field of an application's spec that names its class. The rest of the spec is opaque.
const classField = "affinityClass"

var (
	specPath  = field.NewPath("spec")
	classPath = specPath.Child(classField)
)

// Namespace is what the rules read of the namespace of an application.
type Namespace struct {
	Name string
	// System is what Tree.SystemNamespace returns.
	System bool
	// Recorded is the value of AllowedAnnotation; empty if the Namespace has none.
	Recorded string
}

// Change is the creation or update of an application.
type Change struct {
	// Update is false for a creation.
	Update bool
	// Old is the spec before an update, and New the one to review. Nil is an absent spec.
	Old, New map[string]any
	// Current is the class that the application has by the record of its HelmRelease; empty for none.
	Current string
}

// CheckApplication reviews an application in a namespace. An update that does not change the spec is accepted unchecked. The error is that
// of reading a class.
func CheckApplication(tree *Tree, classes Classes, namespace Namespace, change Change) (Review, error) {
	var review Review
	if change.Update && reflect.DeepEqual(change.Old, change.New) {
		return review, nil
	}
	for _, key := range slices.Sorted(maps.Keys(change.New)) {
		if strings.HasPrefix(key, "_") {
			review.refuse(specPath.Key(key), key, fmt.Sprintf("values key %q is reserved (keys starting with '_' are not allowed)", key))
		}
	}
	kept := []string{change.Current}
	if explicit, isText := change.Old[classField].(string); isText {
		kept = append(kept, explicit)
	}
	_, refusal, err := choose(tree, classes, namespace, change.New, kept)
	if refusal != nil {
		review.Errors = append(review.Errors, refusal)
	}

	return review, err
}

// choose returns the class of an application by its spec; nil for none, or if it is refused. A class that is being deleted is refused
// unless it is one of those that the application keeps.
func choose(
	tree *Tree, classes Classes, namespace Namespace, spec map[string]any, kept []string,
) (*cozystackv1alpha1.AffinityClass, *field.Error, error) {
	name, isText := spec[classField].(string)
	if value := spec[classField]; value != nil && !isText {
		return nil, field.TypeInvalid(classPath, value, "must be a string"), nil
	}
	allowed := tree.EffectiveIn(namespace)
	switch {
	case name != "" && namespace.System:
		return nil, field.Invalid(classPath, name, fmt.Sprintf("AffinityClass is not supported in system namespace %q", namespace.Name)), nil
	case name == "":
		name = allowed.Default
	}
	if name == "" {
		return nil, nil, nil
	}
	class, err := classes(name)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("reading AffinityClass %q: %w", name, err)
	case class == nil:
		return nil, field.Invalid(classPath, name, notFound(name)), nil
	case class.DeletionTimestamp != nil && !slices.Contains(kept, name):
		return nil, field.Invalid(classPath, name, beingDeleted(name)), nil
	case !allowed.Allowed.Has(name):
		return nil, field.Invalid(classPath, name, fmt.Sprintf("AffinityClass %q is not allowed in tenant namespace %q (allowed: %s)",
			name, namespace.Name, allowed.Allowed)), nil
	default:
		return class, nil, nil
	}
}
