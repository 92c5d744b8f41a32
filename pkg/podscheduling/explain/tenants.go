// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

// TenantDifference is what would change for a Tenant: docs/spec/affinity-class.md 1.2.
type TenantDifference struct {
	// Tenant is "namespace/name".
	Tenant string `json:"tenant"`
	// Before and After are its effective settings; nil before if it does not exist.
	Before *TenantSettings `json:"before,omitempty"`
	After  TenantSettings  `json:"after"`
}

// TenantSettings are the effective settings of a Tenant.
type TenantSettings struct {
	// Default is the class of applications that name none; empty for no class.
	Default string `json:"default,omitempty"`
	// Restricted says that Allowed are the only classes that applications may have.
	Restricted bool     `json:"restricted,omitempty"`
	Allowed    []string `json:"allowed,omitempty"`
	// Reason and Message are those of the condition AffinityClassesCompliant, when it is False.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// diffTenants compares the effective settings and the compliance of Tenants.
func diffTenants(before, after *Objects) []TenantDifference {
	was, is := affinityclass.NewTree(before.Tenants), affinityclass.NewTree(after.Tenants)
	var differences []TenantDifference
	for _, tenant := range slices.SortedFunc(slices.Values(after.Tenants), func(a, b *appsv1alpha1.Tenant) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}) {
		difference := TenantDifference{Tenant: tenant.Namespace + "/" + tenant.Name, After: settingsOf(is, tenant, after)}

		at := slices.IndexFunc(before.Tenants, func(old *appsv1alpha1.Tenant) bool {
			return old.Namespace == tenant.Namespace && old.Name == tenant.Name
		})
		if at >= 0 {
			settings := settingsOf(was, before.Tenants[at], before)
			difference.Before = &settings
		}
		if difference.Before == nil || !difference.Before.equal(difference.After) {
			differences = append(differences, difference)
		}
	}

	return differences
}

func settingsOf(tree *affinityclass.Tree, tenant *appsv1alpha1.Tenant, objects *Objects) TenantSettings {
	namespace := affinityclass.WorkloadNamespace(tenant.Namespace, tenant.Name)
	effective := tree.Effective(namespace)
	settings := TenantSettings{Default: effective.Default, Restricted: effective.Allowed.Restricted, Allowed: effective.Allowed.Names}
	compliant, reason, message := tree.Compliance(tenant, classesIn(objects, namespace))
	if !compliant {
		settings.Reason, settings.Message = reason, message
	}
	return settings
}

// classesIn returns the applications of a namespace with the classes of their HelmReleases.
func classesIn(objects *Objects, namespace string) []affinityclass.ApplicationClass {
	var classes []affinityclass.ApplicationClass
	for _, release := range objects.Releases {
		labels := release.GetLabels()
		if release.GetNamespace() == namespace && labels[affinityclass.ClassLabel] != "" && labels[applicationName] != "" {
			classes = append(classes, affinityclass.ApplicationClass{
				Application: labels[applicationKind] + "/" + labels[applicationName], Class: labels[affinityclass.ClassLabel],
			})
		}
	}
	return classes
}

func (s TenantSettings) equal(other TenantSettings) bool {
	return s.Default == other.Default && s.Restricted == other.Restricted && slices.Equal(s.Allowed, other.Allowed) &&
		s.Reason == other.Reason && s.Message == other.Message
}
