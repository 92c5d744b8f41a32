// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

// Classes returns the AffinityClass of a name; nil if there is none.
type Classes func(name string) (*cozystackv1alpha1.AffinityClass, error)

// ClassesOf returns a function that finds AffinityClasses in a list.
func ClassesOf(list []*cozystackv1alpha1.AffinityClass) Classes {
	byName := make(map[string]*cozystackv1alpha1.AffinityClass, len(list))
	for _, class := range list {
		byName[class.Name] = class
	}
	return func(name string) (*cozystackv1alpha1.AffinityClass, error) { return byName[name], nil }
}

// Review is the result of a review of admission. The object is refused if there are errors.
type Review struct {
	Errors   field.ErrorList
	Warnings []string
}

func (r *Review) refuse(path *field.Path, value any, text string) {
	r.Errors = append(r.Errors, field.Invalid(path, value, text))
}

var (
	defaultPath = field.NewPath("spec", "defaultAffinityClass")
	allowedPath = field.NewPath("spec", "allowedAffinityClasses")
)

// CheckTenant reviews a Tenant that is created, or with an old one updated, among those of a Tree: docs/spec/affinity-class.md 1.1 and 1.2.
// The error is that of reading a class.
func CheckTenant(tree *Tree, classes Classes, old, tenant *appsv1alpha1.Tenant) (Review, error) {
	var review Review
	if old == nil {
		review.checkPlace(tree, tenant)
		old = &appsv1alpha1.Tenant{}
	}
	if tenant.Spec.DefaultAffinityClass == old.Spec.DefaultAffinityClass &&
		sets.New(tenant.Spec.AllowedAffinityClasses...).Equal(sets.New(old.Spec.AllowedAffinityClasses...)) {
		return review, nil
	}
	var above Effective
	parent := tree.Parent(tenant.Namespace, tenant.Name)
	if parent != nil {
		above = tree.Effective(WorkloadNamespace(parent.Namespace, parent.Name))
	}
	named := append(slices.Clone(old.Spec.AllowedAffinityClasses), old.Spec.DefaultAffinityClass)
	for i, name := range tenant.Spec.AllowedAffinityClasses {
		path := allowedPath.Index(i)
		if slices.Contains(tenant.Spec.AllowedAffinityClasses[:i], name) {
			review.Errors = append(review.Errors, field.Duplicate(path, name))
			continue
		}
		if !above.Allowed.Has(name) {
			review.refuse(path, name, fmt.Sprintf("AffinityClass %q is not allowed in the parent tenant %q (allowed: %s)", name, parent.Name,
				above.Allowed))
		}
		class, err := classes(name)
		switch {
		case err != nil:
			return Review{}, fmt.Errorf("reading AffinityClass %q: %w", name, err)
		case class == nil:
			review.Warnings = append(review.Warnings, fmt.Sprintf("%s: %s", path, notFound(name)))
		case class.DeletionTimestamp != nil && !slices.Contains(named, name):
			review.refuse(path, name, beingDeleted(name))
		}
	}

	err := review.checkDefault(classes, named, &tenant.Spec, effective(&tenant.Spec, above))
	return review, err
}

// checkPlace reviews the name and the namespace of a new Tenant.
func (r *Review) checkPlace(tree *Tree, tenant *appsv1alpha1.Tenant) {
	if violated := checkName(tenant.Namespace, tenant.Name); violated != "" {
		r.refuse(field.NewPath("metadata", "name"), tenant.Name, violated)
	}
	if tenant.Namespace != RootNamespace && tree.Owner(tenant.Namespace) == nil {
		r.refuse(field.NewPath("metadata", "namespace"), tenant.Namespace, "is neither "+RootNamespace+" nor the namespace of a tenant")
	}
}

func (r *Review) checkDefault(classes Classes, named []string, spec *appsv1alpha1.TenantSpec, own Effective) error {
	name := spec.DefaultAffinityClass
	if name == "" {
		return nil
	}
	class, err := classes(name)
	switch {
	case err != nil:
		return fmt.Errorf("reading AffinityClass %q: %w", name, err)
	case class == nil:
		r.refuse(defaultPath, name, notFound(name))
	case class.DeletionTimestamp != nil && !slices.Contains(named, name):
		r.refuse(defaultPath, name, beingDeleted(name))
	case !own.Allowed.Has(name):
		r.refuse(defaultPath, name, fmt.Sprintf("AffinityClass %q is not among the allowed classes of the tenant (allowed: %s)", name, own.Allowed))
	}

	return nil
}

func notFound(class string) string { return fmt.Sprintf("AffinityClass %q not found", class) }
func beingDeleted(class string) string {
	return fmt.Sprintf("AffinityClass %q is being deleted", class)
}

// The reasons of the condition AffinityClassesCompliant.
const (
	ReasonCompliant              = "Compliant"
	ReasonApplicationsOutside    = "ApplicationsOutsideAllowedClasses"
	ReasonDefaultOutside         = "DefaultOutsideAllowedClasses"
	ReasonListOutsideParent      = "ListOutsideParent"
	maxNamed                     = 10
	messageOfCompliance          = "the tenant and its applications have allowed classes only"
	messageOfApplicationsOutside = "applications have classes that are not allowed (allowed: %s): %s"
)

// ApplicationClass is an application and the class that it has.
type ApplicationClass struct {
	// Application is its kind and name: Postgres/main-db.
	Application, Class string
}

// Compliance returns the condition AffinityClassesCompliant of a Tenant of the tree, given the applications in its namespace with the
// classes that they have: docs/spec/affinity-class.md 1.2.
func (t *Tree) Compliance(tenant *appsv1alpha1.Tenant, applications []ApplicationClass) (compliant bool, reason, message string) {
	own := t.Effective(WorkloadNamespace(tenant.Namespace, tenant.Name))
	var outside []string
	for _, application := range applications {
		if application.Class != "" && !own.Allowed.Has(application.Class) {
			outside = append(outside, fmt.Sprintf("%s (%s)", application.Application, application.Class))
		}
	}
	if len(outside) > 0 {
		slices.Sort(outside)
		return false, ReasonApplicationsOutside, fmt.Sprintf(messageOfApplicationsOutside, own.Allowed, atMost(outside))
	}
	if class := tenant.Spec.DefaultAffinityClass; class != "" && !own.Allowed.Has(class) {
		return false, ReasonDefaultOutside, fmt.Sprintf("the default %q is not allowed (allowed: %s)", class, own.Allowed)
	}
	parent := t.Parent(tenant.Namespace, tenant.Name)
	if parent == nil {
		return true, ReasonCompliant, messageOfCompliance
	}
	above := t.Effective(WorkloadNamespace(parent.Namespace, parent.Name)).Allowed
	for _, class := range slices.Sorted(slices.Values(tenant.Spec.AllowedAffinityClasses)) {
		if !above.Has(class) {
			outside = append(outside, class)
		}
	}
	if len(outside) > 0 {
		return false, ReasonListOutsideParent, fmt.Sprintf("the parent tenant %q does not allow (allowed: %s): %s", parent.Name, above,
			atMost(outside))
	}

	return true, ReasonCompliant, messageOfCompliance
}

// atMost joins the first names of a list, and says how many more there are.
func atMost(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}
