// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

func TestCheckTenant(t *testing.T) {
	const parentOf = `AffinityClass "gpu" is not allowed in the parent tenant "acme" (allowed: dc1, dc2)`
	long := strings.Repeat("x", 60)
	cases := []struct {
		reason           string
		tenants          []*appsv1alpha1.Tenant
		classes          Classes
		old, tenant      *appsv1alpha1.Tenant
		errors, warnings []string
	}{
		{reason: "affinity-class 1.2: the Tenant of the scenarios", tenant: acme()},
		{reason: "affinity-class A5: a default that is not allowed", tenant: tenant(RootNamespace, "acme", "gpu", "dc1"),
			errors: []string{`spec.defaultAffinityClass: Invalid value: "gpu": AffinityClass "gpu" is not among the allowed classes of the ` +
				`tenant (allowed: dc1)`}},
		{reason: "affinity-class A8: a class that the parent does not allow", tenants: []*appsv1alpha1.Tenant{acme()},
			tenant: tenant("tenant-acme", "eu", "", "dc1", "gpu"),
			errors: []string{`spec.allowedAffinityClasses[1]: Invalid value: "gpu": ` + parentOf}},
		{reason: "affinity-class A31: a name with a dash", tenant: tenant(RootNamespace, "acme-eu", ""),
			errors: []string{`metadata.name: Invalid value: "acme-eu": ` + checkName(RootNamespace, "acme-eu")}},
		{reason: "affinity-class 1.1: a name that begins with a digit", tenant: tenant(RootNamespace, "1a", ""),
			errors: []string{`metadata.name: Invalid value: "1a": ` + checkName(RootNamespace, "1a")}},
		{reason: "affinity-class 1.1: a namespace of more than 63 characters", tenant: tenant(RootNamespace, long, ""),
			errors: []string{fmt.Sprintf(`metadata.name: Invalid value: "%s": the tenant's namespace "tenant-%[1]s" would have 67 `+
				`characters, more than 63`, long)}},
		{reason: "affinity-class 1.1: a namespace of no Tenant", tenant: tenant("apps", "a", ""),
			errors: []string{`metadata.namespace: Invalid value: "apps": is neither tenant-root nor the namespace of a tenant`}},
		{reason: "affinity-class 1.1: it is checked at create only", old: tenant("apps", "a", ""), tenant: tenant("apps", "a", "", "dc1")},
		{reason: "affinity-class A41: Tenant root", tenant: tenant(RootNamespace, RootTenant, "", "dc1")},
		{reason: "affinity-class 1.1: a name without a class is accepted with a warning", tenant: tenant(RootNamespace, "a", "", "later"),
			warnings: []string{`spec.allowedAffinityClasses[0]: AffinityClass "later" not found`}},
		{reason: "affinity-class 1.1: a name twice", tenant: tenant(RootNamespace, "a", "", "dc1", "dc1"),
			errors: []string{`spec.allowedAffinityClasses[1]: Duplicate value: "dc1"`}},
		{reason: "affinity-class 1.2: a default without a class", tenant: tenant(RootNamespace, "a", "later"),
			errors: []string{`spec.defaultAffinityClass: Invalid value: "later": AffinityClass "later" not found`}},
		{reason: "affinity-class 1.1: a class that is being deleted cannot be named anew", classes: given(deleted(dc1), dc2), tenant: acme(),
			errors: []string{
				`spec.allowedAffinityClasses[0]: Invalid value: "dc1": AffinityClass "dc1" is being deleted`,
				`spec.defaultAffinityClass: Invalid value: "dc1": AffinityClass "dc1" is being deleted`,
			}},
		{reason: "affinity-class 1.1: but stays where it was named", classes: given(deleted(dc1), dc2, gpus), old: acme(),
			tenant: tenant(RootNamespace, "acme", "dc1", "dc1", "gpu")},
		{reason: "affinity-class 1.2: an update that leaves both fields as they are", tenants: []*appsv1alpha1.Tenant{tenant(RootNamespace,
			RootTenant, "", "dc2")},
			old: tenant(RootNamespace, "acme", "gpu", "dc1", "gpu"), tenant: tenant(RootNamespace, "acme", "gpu", "gpu", "dc1")},
		{reason: "affinity-class A26: a list may be tightened", tenants: []*appsv1alpha1.Tenant{acme(), tenant("tenant-acme", "eu", "", "dc1")},
			old: acme(), tenant: tenant(RootNamespace, "acme", "dc2", "dc2")},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if c.classes == nil {
				c.classes = all()
			}
			review, err := CheckTenant(NewTree(c.tenants), c.classes, c.old, c.tenant)
			if err != nil {
				t.Fatal(err)
			}
			expectTexts(t, c.tenant.Name, review, c.errors, c.warnings)
		})
	}
	t.Run("affinity-class 1.6: a class that cannot be read refuses", func(t *testing.T) {
		failing := func(string) (*cozystackv1alpha1.AffinityClass, error) { return nil, errors.New("timeout") }
		for _, tenant := range []*appsv1alpha1.Tenant{tenant(RootNamespace, "a", "dc1"), tenant(RootNamespace, "a", "", "dc1")} {
			if _, err := CheckTenant(NewTree(nil), failing, nil, tenant); err == nil || err.Error() != `reading AffinityClass "dc1": timeout` {
				t.Errorf("CheckTenant() = %v, want the error of the lookup", err)
			}
		}
	})
}

func TestCompliance(t *testing.T) {
	many := make([]ApplicationClass, 12)
	for i := range many {
		many[i] = ApplicationClass{fmt.Sprintf("Redis/%c", 'l'-i), "dc1"}
	}
	mainDB := []ApplicationClass{{"Postgres/main-db", "dc1"}, {"Redis/cache", ""}}
	tight, eu := tenant(RootNamespace, "acme", "dc2", "dc2"), tenant("tenant-acme", "eu", "", "dc1")
	cases := []struct {
		reason          string
		tenants         []*appsv1alpha1.Tenant
		applications    []ApplicationClass
		want            bool
		wanted, message string
	}{
		{"affinity-class 1.2: everything is allowed", []*appsv1alpha1.Tenant{acme()}, mainDB, true, ReasonCompliant, messageOfCompliance},
		{"affinity-class A26: an application with a class that is not allowed any more", []*appsv1alpha1.Tenant{tight}, mainDB, false,
			"ApplicationsOutsideAllowedClasses", "applications have classes that are not allowed (allowed: dc2): Postgres/main-db (dc1)"},
		{"affinity-class 1.2: at most ten are named, sorted", []*appsv1alpha1.Tenant{tight}, many, false, "ApplicationsOutsideAllowedClasses",
			"applications have classes that are not allowed (allowed: dc2): Redis/a (dc1), Redis/b (dc1), Redis/c (dc1), Redis/d (dc1), " +
				"Redis/e (dc1), Redis/f (dc1), Redis/g (dc1), Redis/h (dc1), Redis/i (dc1), Redis/j (dc1) and 2 more"},
		{"affinity-class 1.2: a default outside of the list", []*appsv1alpha1.Tenant{tenant("tenant-acme", "eu", "dc1", "dc1"), tight}, nil, false,
			"DefaultOutsideAllowedClasses", `the default "dc1" is not allowed (allowed: none)`},
		{"affinity-class A36: a list outside of the parent's", []*appsv1alpha1.Tenant{eu, tight}, nil, false, "ListOutsideParent",
			`the parent tenant "acme" does not allow (allowed: dc2): dc1`},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			compliant, reason, message := NewTree(c.tenants).Compliance(c.tenants[0], c.applications)
			if compliant != c.want || reason != c.wanted || message != c.message {
				t.Errorf("Compliance() = %t, %s, %s, want %t, %s, %s", compliant, reason, message, c.want, c.wanted, c.message)
			}
		})
	}
}
