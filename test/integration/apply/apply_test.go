// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/apply"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// formerVersion is a version that definitions have for a while. The field manager somebody applies by it, and another by the version that stays.
const (
	formerVersion = "v0former"
	somebody      = "somebody"
	another       = "another"
)

func settingsWith(c clock.PassiveClock) queue.Settings { return queue.Settings{Clock: c} }

// provides is the right to be a provider.
func provides(name string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		APIGroups: []string{openmcpv1alpha1.GroupName}, Resources: []string{"clusterproviders"}, ResourceNames: []string{name},
		Verbs: []string{"provide"},
	}
}

// editDefinition changes a CustomResourceDefinition.
func (w *world) editDefinition(name string, change func(definition *unstructured.Unstructured)) {
	GinkgoHelper()
	definition := &unstructured.Unstructured{}
	definition.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, types.NamespacedName{Name: name}, definition)).To(Succeed())
		change(definition)
		g.Expect(suite.Client.Update(w.ctx, definition)).To(Succeed())
	})
}

func versions(definition *unstructured.Unstructured) []any {
	GinkgoHelper()
	found, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	Expect(err).NotTo(HaveOccurred())
	return found
}

// applyAs applies a label as a field manager, by a version.
func (w *world) applyAs(manager, version, value string) error {
	applied := w.empty()
	applied.SetGroupVersionKind(w.kind.GroupKind().WithVersion(version))
	applied.SetLabels(map[string]string{"test/" + manager: value})
	return suite.Client.Apply(w.ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(manager), client.ForceOwnership)
}

// leaveVersion has somebody apply a label by a version, which the definition does not have after that.
func (w *world) leaveVersion(name string) {
	GinkgoHelper()
	w.editDefinition(name, func(definition *unstructured.Unstructured) {
		all := versions(definition)
		added, is := all[0].(map[string]any)
		Expect(is).To(BeTrue())
		added = maps.Clone(added)
		added["name"], added["storage"], added["served"] = formerVersion, false, true
		Expect(unstructured.SetNestedSlice(definition.Object, append(all, added), "spec", "versions")).To(Succeed())
	})
	w.eventually(func(g Gomega) { g.Expect(w.applyAs(somebody, formerVersion, "former")).To(Succeed()) })

	w.editDefinition(name, func(definition *unstructured.Unstructured) {
		kept := slices.DeleteFunc(versions(definition), func(version any) bool { return version.(map[string]any)["name"] == formerVersion })
		Expect(unstructured.SetNestedSlice(definition.Object, kept, "spec", "versions")).To(Succeed())
	})
	w.eventually(func(g Gomega) {
		g.Expect(w.applyAs(another, w.kind.Version, "present")).To(MatchError(ContainSubstring("request to convert CR to an invalid group/version")))
	})
}

// forgeVersion gives a label to somebody in the managedFields by a version that there is not.
func (w *world) forgeVersion() {
	GinkgoHelper()
	Expect(w.applyAs(somebody, w.kind.Version, "former")).To(Succeed())
	object := w.read(Default)
	entries := object.GetManagedFields()
	for i := range entries {
		if entries[i].Manager == somebody {
			entries[i].APIVersion = w.kind.Group + "/" + formerVersion
		}
	}
	content, err := json.Marshal(map[string]any{"metadata": map[string]any{"managedFields": entries}})
	Expect(err).NotTo(HaveOccurred())
	w.patch(w.empty(), string(content))
}

// next has the product apply, and demands what it applies in a round.
func (w *world) next(c caller, round int, shows func(g Gomega, applied *unstructured.Unstructured, round int)) {
	GinkgoHelper()
	c.change(w, round)
	w.eventually(func(g Gomega) { shows(g, w.read(g), round) })
}

// events returns the notes of Events about the applied object with a reason.
func (w *world) events(g Gomega, reason string) []string {
	namespace := w.name.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	list := &eventsv1.EventList{}
	g.Expect(suite.Client.List(w.ctx, list, client.InNamespace(namespace))).To(Succeed())
	var notes []string
	for i := range list.Items {
		if event := &list.Items[i]; event.Reason == reason && event.Regarding.Kind == w.kind.Kind && event.Regarding.Name == w.name.Name {
			notes = append(notes, event.Note)
		}
	}
	return notes
}

// cured runs the command of an Event.
func (w *world) cured(note string) {
	GinkgoHelper()
	_, command, found := strings.Cut(note, ": kubectl ")
	Expect(found).To(BeTrue(), note)
	command, patch, found := strings.Cut(command, " -p '")
	Expect(found).To(BeTrue(), note)
	suite.Kubectl(w.ctx, "default")(append(strings.Fields(command), "-p", strings.TrimSuffix(patch, "'"))...)
}

var _ = Describe("an apply that the API server cannot carry out", func() {
	for _, name := range slices.Sorted(maps.Keys(callers)) {
		c := callers[name]
		begin := func(ctx SpecContext) *world {
			w := newWorld(ctx)
			w.kind, w.name = c.start(w)
			w.eventually(func(g Gomega) { c.shows(g, w.read(g), 0) })
			return w
		}

		It(name+": go on by merge patches when the managedFields have a version that is gone, and an Event has the cure once", func(ctx SpecContext) {
			w := begin(ctx)
			if c.definition == "" {
				w.forgeVersion()
				w.next(c, 1, c.shows)
				Expect(w.applyAs(another, w.kind.Version, "present")).To(Succeed(), "entries of unknown versions are dropped")
				return
			}
			w.leaveVersion(c.definition)
			for round := range 3 {
				w.next(c, round+1, c.shows)
				Expect(w.read(Default).GetLabels()).To(HaveKeyWithValue("test/somebody", "former"))
			}

			var notes []string
			w.eventually(func(g Gomega) {
				notes = w.events(g, apply.ReasonVersionGone)
				writers := 1
				if c.definition == "clusters.cluster.openmcp.cloud" && c.status {
					writers = len(notes) // Provider and hub may both have something to say.
				}
				g.Expect(notes).To(HaveLen(max(writers, 1)))
			})
			w.cured(notes[0])
			Expect(w.applyAs(another, w.kind.Version, "present")).To(Succeed())
			w.next(c, 4, c.shows)
			Expect(w.read(Default).GetLabels()).To(HaveKeyWithValue("test/another", "present"))
		})

		if c.field == nil {
			continue
		}
		what := "go on without a field that the definition lacks"
		if !c.status {
			what = "are not written without a field that the definition lacks, and an Event names the definition"
		}
		It(name+": "+what, func(ctx SpecContext) {
			w := begin(ctx)
			w.dropField(c)
			if !c.status {
				c.change(w, 1)
				object := &unstructured.Unstructured{}
				object.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
				work := w.name
				w.kind, w.name = object.GroupVersionKind(), types.NamespacedName{Namespace: w.Namespace, Name: "object"}
				w.eventually(func(g Gomega) {
					g.Expect(w.events(g, federation.ReasonDeliveryFailed)).To(ContainElement(And(
						ContainSubstring(c.definition+" is older"), ContainSubstring(strings.Join(c.field, ".")))))
				})
				w.kind, w.name = schema.GroupVersionKind{Group: "work.open-cluster-management.io", Version: "v1", Kind: "ManifestWork"}, work
				c.shows(Default, w.read(Default), 0)
			} else {
				w.next(c, 1, c.lacks)
				version := w.read(Default).GetResourceVersion()
				Consistently(func(g Gomega) { g.Expect(w.read(g).GetResourceVersion()).To(Equal(version)) }).
					WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())
			}

			w.restoreDefinition(c)
			w.next(c, 3, c.shows)
		})
	}
})

// dropField removes the field from the definition, which is restored by restoreDefinition or after the spec.
func (w *world) dropField(c caller) {
	GinkgoHelper()
	w.editDefinition(c.definition, func(definition *unstructured.Unstructured) {
		if dropped == nil {
			dropped = definition.DeepCopy()
			DeferCleanup(func(ctx SpecContext) {
				w.ctx = ctx
				w.restoreDefinition(c)
			})
		}
		for _, schema := range suite.SchemasOf(definition) {
			for _, step := range c.field[:len(c.field)-1] {
				if step != "items" {
					schema = schema["properties"].(map[string]any)
				}
				schema = schema[step].(map[string]any)
			}
			delete(schema["properties"].(map[string]any), c.field[len(c.field)-1])
		}
	})
	w.eventually(func(g Gomega) {
		g.Expect(w.applyField(c)).To(MatchError(ContainSubstring("field not declared in schema")))
	})
}

// applyField applies the field, with a value that it cannot have.
func (w *world) applyField(c caller) error {
	var value any = false
	for _, step := range slices.Backward(c.field) {
		if step == "items" {
			value.(map[string]any)["name"] = "x"
			value = []any{value}
		} else {
			value = map[string]any{step: value}
		}
	}
	applied := w.empty()
	maps.Copy(applied.Object, value.(map[string]any))
	configuration := client.ApplyConfigurationFromUnstructured(applied)
	if c.status {
		return suite.Client.Status().Apply(w.ctx, configuration, client.FieldOwner(another))
	}
	return suite.Client.Apply(w.ctx, configuration, client.FieldOwner(another))
}

// dropped is the definition whose field is removed; nil for none.
var dropped *unstructured.Unstructured

func (w *world) restoreDefinition(c caller) {
	GinkgoHelper()
	if dropped == nil {
		return
	}
	w.editDefinition(c.definition, func(definition *unstructured.Unstructured) { definition.Object["spec"] = dropped.Object["spec"] })
	dropped = nil
}
