// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"cmp"
	"slices"
	"strings"

	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

// Allowed are the classes that a Tenant's applications may have.
type Allowed struct {
	// Restricted is false if they may have any class. If it is true and Names is empty, they may have none.
	Restricted bool
	// Names are sorted.
	Names []string
}

// Has reports whether applications may have a class.
func (a Allowed) Has(class string) bool {
	return !a.Restricted || slices.Contains(a.Names, class)
}

// String returns the names, or "none".
func (a Allowed) String() string {
	if len(a.Names) == 0 {
		return "none"
	}
	return strings.Join(a.Names, ", ")
}

// Effective are the settings of a Tenant after those of its ancestors: docs/spec/affinity-class.md 1.2.
type Effective struct {
	// Default is the class of an application that names none; empty for no class.
	Default string
	Allowed Allowed
}

// effective returns the settings of a spec below those of a parent.
func effective(spec *appsv1alpha1.TenantSpec, parent Effective) Effective {
	e := Effective{Allowed: parent.Allowed, Default: cmp.Or(spec.DefaultAffinityClass, parent.Default)}
	if own := spec.AllowedAffinityClasses; len(own) > 0 {
		names := slices.DeleteFunc(slices.Clone(own), func(class string) bool { return !parent.Allowed.Has(class) })
		slices.Sort(names)
		e.Allowed = Allowed{Restricted: true, Names: slices.Compact(names)}
	}
	if !e.Allowed.Has(e.Default) {
		e.Default = ""
	}
	return e
}

// Tree has the Tenants of a hub by the namespaces that they own. It is immutable.
type Tree struct {
	owners    map[string]*appsv1alpha1.Tenant
	effective map[string]Effective
}

// NewTree arranges Tenants, whose order does not matter. The Tree shares the objects, which must not change.
//
// Of several Tenants that would own the same namespace, which admission prevents, the one owns it whose name is a proper one, then the one
// that lives in tenant-root.
func NewTree(tenants []*appsv1alpha1.Tenant) *Tree {
	t := &Tree{owners: make(map[string]*appsv1alpha1.Tenant, len(tenants)), effective: make(map[string]Effective, len(tenants))}
	for _, tenant := range slices.SortedFunc(slices.Values(tenants), compareTenants) {
		if owned := WorkloadNamespace(tenant.Namespace, tenant.Name); t.owners[owned] == nil {
			t.owners[owned] = tenant
		}
	}
	for _, tenant := range t.owners {
		t.compute(tenant)
	}
	return t
}

func compareTenants(a, b *appsv1alpha1.Tenant) int {
	rank := func(tenant *appsv1alpha1.Tenant) int {
		switch {
		case !tenantName(tenant.Name):
			return 2
		case tenant.Namespace != RootNamespace:
			return 1
		default:
			return 0
		}
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// compute returns the effective settings of a Tenant after those of its ancestors have been computed.
func (t *Tree) compute(tenant *appsv1alpha1.Tenant) Effective {
	owned := WorkloadNamespace(tenant.Namespace, tenant.Name)
	if known, found := t.effective[owned]; found {
		return known
	}
	var above Effective
	if parent := t.Parent(tenant.Namespace, tenant.Name); parent != nil {
		above = t.compute(parent)
	}
	t.effective[owned] = effective(&tenant.Spec, above)
	return t.effective[owned]
}

// Owner returns the Tenant that owns a namespace; nil if none does.
func (t *Tree) Owner(namespace string) *appsv1alpha1.Tenant { return t.owners[namespace] }

// Effective returns the effective settings in a namespace. In a namespace that no Tenant owns there is no default, and every class is
// allowed.
func (t *Tree) Effective(namespace string) Effective { return t.effective[namespace] }

// EffectiveIn is Effective, and in a namespace that no Tenant owns any more what was recorded there, below the settings of the nearest Tenant:
// docs/spec/affinity-class.md 1.3.
func (t *Tree) EffectiveIn(namespace Namespace) Effective {
	if t.Owner(namespace.Name) != nil || namespace.Recorded == "" {
		return t.Effective(namespace.Name)
	}
	recorded, above := parseAllowed(namespace.Recorded), Allowed{}
	if place, name, possible := OwnerOf(namespace.Name); possible {
		if parent := t.Parent(place, name); parent != nil {
			above = t.Effective(WorkloadNamespace(parent.Namespace, parent.Name)).Allowed
		}
	}
	recorded.Names = slices.DeleteFunc(recorded.Names, func(class string) bool { return !above.Has(class) })
	return Effective{Allowed: recorded}
}

// Parent returns the parent of the Tenant of a name and a namespace, which need not exist; nil if it has none. The parent owns the namespace
// that the Tenant lives in, or a dash prefix of it, the longest that is owned; otherwise it is the Tenant root.
func (t *Tree) Parent(namespace, name string) *appsv1alpha1.Tenant {
	if namespace == RootNamespace && name == RootTenant {
		return nil
	}
	for prefix := namespace; prefix != ""; prefix = prefix[:max(strings.LastIndex(prefix, "-"), 0)] {
		if owner := t.owners[prefix]; owner != nil && (owner.Namespace != namespace || owner.Name != name) {
			return owner
		}
	}
	if root := t.owners[RootNamespace]; root != nil && root.Namespace == RootNamespace && root.Name == RootTenant {
		return root
	}

	return nil
}

// Descendants returns the namespaces whose effective settings may change with those of the Tenant that owns a namespace, that one
// included, sorted.
func (t *Tree) Descendants(namespace string) []string {
	var below []string
	for owned, tenant := range t.owners {
		for above := tenant; above != nil; above = t.Parent(above.Namespace, above.Name) {
			if WorkloadNamespace(above.Namespace, above.Name) == namespace {
				below = append(below, owned)
				break
			}
		}
	}
	slices.Sort(below)
	return below
}
