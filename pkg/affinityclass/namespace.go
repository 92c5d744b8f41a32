// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The Tenant at the top, and the namespace that it lives in and owns.
const (
	RootTenant    = "root"
	RootNamespace = "tenant-root"
)

// SystemLabel marks the namespaces of the platform, with the value "true". It has no effect on the workload namespace of a Tenant.
const SystemLabel = "cozystack.io/system"

// workloadPrefix begins the workload namespaces of Tenants that live in RootNamespace.
const workloadPrefix = "tenant"

// WorkloadNamespace returns the namespace that the Tenant of a name and a namespace owns.
func WorkloadNamespace(namespace, name string) string {
	switch {
	case namespace != RootNamespace:
		return namespace + "-" + name
	case name == RootTenant:
		return RootNamespace
	default:
		return workloadPrefix + "-" + name
	}
}

// OwnerOf returns the namespace and the name of the Tenant that owns a namespace, if it exists; false if no Tenant with a proper name can.
func OwnerOf(owned string) (namespace, name string, possible bool) {
	if owned == RootNamespace {
		return RootNamespace, RootTenant, true
	}
	dash := strings.LastIndex(owned, "-")
	if dash < 0 || !tenantName(owned[dash+1:]) {
		return "", "", false
	}
	namespace, name = owned[:dash], owned[dash+1:]
	if namespace == workloadPrefix {
		return RootNamespace, name, name != RootTenant
	}
	if _, _, possible = OwnerOf(namespace); !possible || namespace == RootNamespace {
		return "", "", false
	}

	return namespace, name, true
}

// tenantName reports whether a name has lower-case letters and digits only, a letter first.
func tenantName(name string) bool {
	for i, c := range []byte(name) {
		letter, digit := c >= 'a' && c <= 'z', c >= '0' && c <= '9'
		if !letter && (!digit || i == 0) {
			return false
		}
	}
	return name != ""
}

// checkName returns the rule that the name of a Tenant violates; "" if it violates none.
func checkName(namespace, name string) string {
	if !tenantName(name) {
		return `must have lower-case letters and digits only, a letter first; a dash ("-") would give the namespace of another tenant's child: ` +
			`"acme-eu" in tenant-root that of "eu" in tenant-acme`
	}
	if owned := WorkloadNamespace(namespace, name); len(owned) > validation.DNS1123LabelMaxLength {
		return fmt.Sprintf("the tenant's namespace %q would have %d characters, more than %d", owned, len(owned), validation.DNS1123LabelMaxLength)
	}
	return ""
}

// SystemNamespace reports whether a namespace is one of the system's: by its name, or by its label if no Tenant owns it.
func (t *Tree) SystemNamespace(name string, labels map[string]string, hub string) bool {
	switch name {
	case "kube-system", "kube-public", "kube-node-lease", hub:
		return true
	default:
		return labels[SystemLabel] == "true" && t.Owner(name) == nil
	}
}

// VerifyLabel is on the namespaces whose Pods are verified, with the value "true".
const VerifyLabel = "cozystack.io/verify-affinity-class"

// Verified reports whether a namespace that is none of the system's has to have VerifyLabel: a Tenant owns it, it holds an application, or
// a HelmRelease in it has a class.
func (t *Tree) Verified(namespace Namespace, hasApplication, hasClass bool) bool {
	return !namespace.System && (t.Owner(namespace.Name) != nil || hasApplication || hasClass)
}

// AllowedAnnotation records on the workload namespace of a Tenant which classes applications in it may have, as a JSON list. It is absent if
// they may have any. It counts while no Tenant owns the namespace, so that a Tenant that is deleted frees nothing.
const AllowedAnnotation = "cozystack.io/allowed-affinity-classes"

// Record returns the value of AllowedAnnotation; empty for none.
func (a Allowed) Record() (string, error) {
	if !a.Restricted {
		return "", nil
	}
	text, err := json.Marshal(append([]string{}, a.Names...))
	if err != nil {
		return "", fmt.Errorf("encode the allowed classes: %w", err)
	}
	return string(text), nil
}

// parseAllowed returns the classes of a record. A record that is no list allows nothing.
func parseAllowed(record string) Allowed {
	var names []string
	if err := json.Unmarshal([]byte(record), &names); err != nil {
		return Allowed{Restricted: true}
	}
	slices.Sort(names)
	return Allowed{Restricted: true, Names: slices.Compact(names)}
}
