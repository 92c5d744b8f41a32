// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

// The labels of a HelmRelease that name its application.
const (
	applicationGroup = "apps.cozystack.io/application.group"
	applicationKind  = "apps.cozystack.io/application.kind"
	applicationName  = "apps.cozystack.io/application.name"
)

// explainClass returns the AffinityClass of the Pods of a workload, and what admission says about a Pod that is created now; nil if they
// belong to no HelmRelease of an application.
func (e *Evaluator) explainClass(ev *evaluation) *Class {
	lookup := e.lookup(ev)
	verdict := affinityclass.CheckPod(ev.pod.object, ev.pod.spec.NodeSelector, lookup, e.class)

	ancestry, err := affinityclass.Walk(ev.pod.object, lookup)
	if err == nil && ancestry.Release == nil {
		return nil
	}
	namespace := ev.object.GetNamespace()
	labels, known := e.namespaces[namespace]
	explained := &Class{Denial: verdict.Message, Warnings: verdict.Warnings, Verified: labels[affinityclass.VerifyLabel] == "true"}

	if apierrors.IsForbidden(err) {
		// The hub may have the right that the user lacks.
		explained.Denial = ""
		explained.Notes = append(explained.Notes, fmt.Sprintf("the class is not known, as this user may not read an owner: %v", err))
	}
	if known && !explained.Verified {
		explained.Notes = append(explained.Notes, fmt.Sprintf("namespace %s has no label %s=true: its Pods are not verified until the controller "+
			"affinityclass/namespaces sets it", namespace, affinityclass.VerifyLabel))
	}

	if err != nil {
		return explained
	}
	release := ancestry.Release
	explained.Release = release.Namespace + "/" + release.Name
	explained.Application = release.Labels[applicationKind] + " " + release.Labels[applicationName]
	explained.Class = release.Labels[affinityclass.ClassLabel]
	explained.addOrigin(e, namespace, e.application(release))

	if class, err := e.class(explained.Class); err == nil && class != nil {
		explained.addContract(class, ev)
	} else if e.objects.unread("AffinityClass") && explained.Class != "" {
		explained.Denial = ""
		explained.Notes = append(explained.Notes, "it is not known whether Pods satisfy the class, which this user may not read")
	}
	return explained
}

// addContract adds what the class asks for, and what an existing Pod lacks of it.
func (c *Class) addContract(class *cozystackv1alpha1.AffinityClass, ev *evaluation) {
	c.Enforcement, c.NodeSelector = string(class.Spec.Enforcement), map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(class.Spec.NodeSelector)) {
		c.NodeSelector[key] = string(class.Spec.NodeSelector[key])
	}
	if class.DeletionTimestamp != nil {
		c.Notes = append(c.Notes, fmt.Sprintf("AffinityClass %q is being deleted; Pods are checked against it as before", class.Name))
	}
	constraints := podscheduling.Constraints{NodeSelector: c.NodeSelector}
	missing := constraints.Verify(ev.pod.scheduling().NodeSelector)
	c.Satisfied = len(missing) == 0

	if ev.pod.own == nil {
		return
	}
	for _, label := range missing {
		c.Lacks = append(c.Lacks, label.Key+"="+label.Value)
	}
}

// application reads the application that a HelmRelease has in its labels; nil if it is not known.
func (e *Evaluator) application(release *affinityclass.Object) readApplication {
	kind := schema.GroupKind{Group: release.Labels[applicationGroup], Kind: release.Labels[applicationKind]}
	name := release.Labels[applicationName]
	if found := e.owners[owner{kind, release.Namespace, name}]; found != nil {
		return readApplication{object: found}
	}
	if e.objects.Application == nil {
		return readApplication{}
	}
	found, err := e.objects.Application(kind, release.Namespace, name)
	return readApplication{object: found, err: err}
}

// readApplication is an application, or why it could not be read. Both are nil if it does not exist.
type readApplication struct {
	object *unstructured.Unstructured
	err    error
}

// class returns the class that the spec of the application names; "" for none, and if the application is not known.
func (a readApplication) class() string {
	if a.object == nil {
		return ""
	}
	class, _, err := unstructured.NestedString(a.object.Object, "spec", "affinityClass")
	if err != nil {
		return "" // The schema of every application kind says that it is a string.
	}
	return class
}

// addOrigin says where the class of a HelmRelease comes from, and what the Tenant of the namespace has to say about it.
func (c *Class) addOrigin(e *Evaluator, namespace string, application readApplication) {
	effective, tenant := e.tree.EffectiveIn(affinityclass.Namespace{Name: namespace, Recorded: e.recorded[namespace]}), e.tenantOf(namespace)
	if tenant == "" {
		tenant = "the record of namespace " + namespace
	}
	if application.err != nil {
		c.Notes = append(c.Notes, fmt.Sprintf("%s could not be read, so its own class is not known: %v", c.Application, application.err))
	}
	named := application.class()
	wanted := cmp.Or(named, effective.Default)

	switch {
	case c.Class == "":
	case named == c.Class:
		c.Origin = "spec.affinityClass of " + c.Application
	case application.object != nil && named == "" && c.Class == effective.Default:
		c.Origin = "default of " + tenant
	default:
		c.Origin = fmt.Sprintf("label %s of HelmRelease %s", affinityclass.ClassLabel, c.Release)
	}

	if application.object != nil && wanted != c.Class && (named != "" || !e.objects.unread("Tenant")) {
		c.Notes = append(c.Notes, fmt.Sprintf("the next change of the spec of %s resolves %s instead", c.Application, orNone(wanted)))
	}
	if c.Class != "" && !effective.Allowed.Has(c.Class) {
		c.Notes = append(c.Notes, fmt.Sprintf("%s does not allow the class any more (allowed: %s); what runs keeps it until the spec of %s changes",
			tenant, effective.Allowed, c.Application))
	}
}

// tenantOf returns the Tenant that owns a namespace, for messages; empty if none does.
func (e *Evaluator) tenantOf(namespace string) string {
	tenant := e.tree.Owner(namespace)
	if tenant == nil {
		return ""
	}
	return "Tenant " + tenant.Namespace + "/" + tenant.Name
}

func orNone(class string) string {
	if class == "" {
		return "no class"
	}
	return fmt.Sprintf("class %q", class)
}
