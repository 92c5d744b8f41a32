// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/test/property"
)

func TestWorkloadNamespace(t *testing.T) {
	cases := []struct{ reason, namespace, name, want string }{
		{"affinity-class 1.1: a Tenant in tenant-root", "tenant-root", "acme", "tenant-acme"},
		{"affinity-class 1.1: the child of another one", "tenant-acme", "eu", "tenant-acme-eu"},
		{"affinity-class 1.1: root owns the namespace that it lives in", "tenant-root", "root", "tenant-root"},
		{"affinity-class 1.1: a Tenant of the name root elsewhere is like any other", "tenant-acme", "root", "tenant-acme-root"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if got := WorkloadNamespace(c.namespace, c.name); got != c.want {
				t.Errorf("WorkloadNamespace(%s, %s) = %s, want %s", c.namespace, c.name, got, c.want)
			}
			namespace, name, possible := OwnerOf(c.want)
			if namespace != c.namespace || name != c.name || !possible {
				t.Errorf("OwnerOf(%s) = %s, %s, %t, want %s, %s", c.want, namespace, name, possible, c.namespace, c.name)
			}
		})
	}
}

// A Tenant with a proper name owns none of these namespaces.
func TestOwnerOf(t *testing.T) {
	for _, owned := range []string{"", "apps", "tenant", "tenant-", "tenant-root-eu", "tenant-acme-", "tenant--acme", "tenant-acme-1eu", "apps-eu"} {
		if namespace, name, possible := OwnerOf(owned); possible {
			t.Errorf("OwnerOf(%q) = %s, %s", owned, namespace, name)
		}
	}
}

func TestParent(t *testing.T) {
	root, eu, deep := tenant(RootNamespace, RootTenant, ""), tenant("tenant-acme", "eu", ""), tenant("tenant-acme-eu-west", "a", "")
	cases := []struct {
		reason  string
		tenants []*appsv1alpha1.Tenant
		of      *appsv1alpha1.Tenant
		want    string
	}{
		{"affinity-class 1.1: the owner of its namespace", []*appsv1alpha1.Tenant{acme(), eu, root}, eu, "acme"},
		{"affinity-class 1.1: the nearest ancestor that exists", []*appsv1alpha1.Tenant{acme(), eu, deep, root}, deep, "eu"},
		{"affinity-class 1.1: the next one", []*appsv1alpha1.Tenant{acme(), deep, root}, deep, "acme"},
		{"affinity-class 1.1: last comes root", []*appsv1alpha1.Tenant{deep, root}, deep, "root"},
		{"affinity-class 1.1: without an ancestor there is no parent", []*appsv1alpha1.Tenant{deep}, deep, ""},
		{"affinity-class 1.1: root need not exist", []*appsv1alpha1.Tenant{acme()}, acme(), ""},
		{"affinity-class 1.1: root has no parent", []*appsv1alpha1.Tenant{acme(), root}, root, ""},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got := ""
			if parent := NewTree(c.tenants).Parent(c.of.Namespace, c.of.Name); parent != nil {
				got = parent.Name
			}
			if got != c.want {
				t.Errorf("parent %q, want %q", got, c.want)
			}
		})
	}
}

func TestEffective(t *testing.T) {
	unrestricted, restricted := Allowed{}, func(names ...string) Allowed { return Allowed{Restricted: true, Names: names} }
	cases := []struct {
		reason  string
		tenants []*appsv1alpha1.Tenant
		want    map[string]Effective
	}{
		{"affinity-class A6: a child without fields inherits", []*appsv1alpha1.Tenant{acme(), tenant("tenant-acme", "eu", "")},
			map[string]Effective{
				"tenant-acme":    {Default: "dc1", Allowed: restricted("dc1", "dc2")},
				"tenant-acme-eu": {Default: "dc1", Allowed: restricted("dc1", "dc2")},
			}},
		{"affinity-class A7: a default that is not allowed is not inherited", []*appsv1alpha1.Tenant{acme(), tenant("tenant-acme", "eu", "",
			"dc2")},
			map[string]Effective{"tenant-acme-eu": {Allowed: restricted("dc2")}}},
		{"affinity-class A36: an effective list that is empty allows nothing", []*appsv1alpha1.Tenant{
			tenant(RootNamespace, "acme", "dc2", "dc2"), tenant("tenant-acme", "eu", "", "dc1"), tenant("tenant-acme-eu", "x", "dc2", "dc2"),
		}, map[string]Effective{
			"tenant-acme": {Default: "dc2", Allowed: restricted("dc2")}, "tenant-acme-eu": {Allowed: restricted()},
			"tenant-acme-eu-x": {Allowed: restricted()},
		}},
		{"affinity-class A41: root restricts everybody", []*appsv1alpha1.Tenant{
			tenant(RootNamespace, RootTenant, "", "dc1"), tenant(RootNamespace, "beta", ""),
		}, map[string]Effective{"tenant-root": {Allowed: restricted("dc1")}, "tenant-beta": {Allowed: restricted("dc1")}}},
		{"affinity-class 1.2: a child never widens", []*appsv1alpha1.Tenant{acme(), tenant("tenant-acme", "eu", "gpu", "gpu", "dc1")},
			map[string]Effective{"tenant-acme-eu": {Allowed: restricted("dc1")}}},
		{"affinity-class 1.2: no field anywhere", []*appsv1alpha1.Tenant{tenant(RootNamespace, "a", "")},
			map[string]Effective{"tenant-a": {Allowed: unrestricted}}},
		{"affinity-class 1.2: a default without a list", []*appsv1alpha1.Tenant{tenant(RootNamespace, "a", "dc1"), tenant("tenant-a", "b", "dc2")},
			map[string]Effective{"tenant-a": {Default: "dc1"}, "tenant-a-b": {Default: "dc2"}}},
		{"affinity-class 1.3: a namespace of no Tenant", []*appsv1alpha1.Tenant{acme()}, map[string]Effective{"apps": {}}},
		{"affinity-class A31: a stored Tenant with a dash does not take the namespace of another's child", []*appsv1alpha1.Tenant{
			tenant(RootNamespace, "acme-eu", "gpu"), acme(), tenant("tenant-acme", "eu", "", "dc2"),
		}, map[string]Effective{"tenant-acme-eu": {Allowed: restricted("dc2")}}},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			tree := NewTree(c.tenants)
			for namespace, want := range c.want {
				got := tree.Effective(namespace)
				if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", namespace, diff)
				}
			}
		})
	}
}

func TestDescendants(t *testing.T) {
	tree := NewTree([]*appsv1alpha1.Tenant{
		tenant(RootNamespace, RootTenant, ""), acme(), tenant("tenant-acme", "eu", ""), tenant("tenant-acme-eu", "x", ""), tenant(RootNamespace,
			"b", ""),
	})
	t.Run("affinity-class 1.2: all below and the Tenant itself", func(t *testing.T) {
		if diff := cmp.Diff([]string{"tenant-acme", "tenant-acme-eu", "tenant-acme-eu-x"}, tree.Descendants("tenant-acme")); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if got := tree.Descendants(RootNamespace); len(got) != 5 {
			t.Errorf("below root: %v, want everybody", got)
		}
	})
}

func TestSystemNamespace(t *testing.T) {
	tree, system := NewTree([]*appsv1alpha1.Tenant{acme()}), map[string]string{SystemLabel: "true"}
	cases := []struct {
		reason, name string
		labels       map[string]string
		want         bool
	}{
		{"affinity-class 1.5: by name", "kube-system", nil, true},
		{"affinity-class A42: the hub's own", "hub", nil, true},
		{"affinity-class 1.5: by label", "cozy-x", system, true},
		{"affinity-class A32: the label has no effect on a Tenant's namespace", "tenant-acme", system, false},
		{"affinity-class A29: any other one", "apps", nil, false},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if got := tree.SystemNamespace(c.name, c.labels, "hub"); got != c.want {
				t.Errorf("SystemNamespace(%s) = %t, want %t", c.name, got, c.want)
			}
		})
	}
}

// Whatever the Tenants, also those that admission would refuse: their order does not matter, no child is allowed more than its parent, and
// each default is allowed.
func TestEffectiveSettingsOnlyNarrow(t *testing.T) {
	names := rapid.SampledFrom([]string{"root", "a", "b", "a-b"})
	namespaces := rapid.SampledFrom([]string{RootNamespace, "tenant", "tenant-a", "tenant-a-b", "tenant-b", "tenant-a-b-a", "other"})
	classes := rapid.SampledFrom([]string{"x", "y", "z"})
	property.Check(t, func(r *rapid.T) {
		var tenants []*appsv1alpha1.Tenant
		named := map[string]bool{}
		for range rapid.IntRange(0, 8).Draw(r, "count") {
			drawn := tenant(namespaces.Draw(r, "namespace"), names.Draw(r, "name"),
				rapid.OneOf(rapid.Just(""), classes).Draw(r, "default"), rapid.SliceOfN(classes, 0, 3).Draw(r, "allowed")...)
			if key := drawn.Namespace + "/" + drawn.Name; !named[key] {
				named[key] = true
				tenants = append(tenants, drawn)
			}
		}
		reversed := slices.Clone(tenants)
		slices.Reverse(reversed)
		tree, other := NewTree(tenants), NewTree(reversed)
		for _, tenant := range tenants {
			owned := WorkloadNamespace(tenant.Namespace, tenant.Name)
			own := tree.Effective(owned)
			if fmt.Sprint(own) != fmt.Sprint(other.Effective(owned)) {
				r.Fatalf("%s: %v, in another order %v", owned, own, other.Effective(owned))
			}
			if !own.Allowed.Has(own.Default) && own.Default != "" {
				r.Fatalf("%s: the default of %v is not allowed", owned, own)
			}
			owner := tree.Owner(owned)
			parent := tree.Parent(owner.Namespace, owner.Name)
			if parent == nil {
				continue
			}
			above := tree.Effective(WorkloadNamespace(parent.Namespace, parent.Name)).Allowed
			for _, class := range []string{"x", "y", "z"} {
				if own.Allowed.Has(class) && !above.Has(class) {
					r.Fatalf("%s allows %s, which its parent %s does not", owned, class, parent.Name)
				}
			}
		}
	})
}
