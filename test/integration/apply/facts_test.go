// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// widgetDefinition has a version beside that of leaveVersion, and a status.
const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: string}}}
          status: {type: object, properties: {phase: {type: string}}}
`

// widgetSpec and widgetStatus are what is applied to Widgets.
var (
	widgetSpec   = map[string]any{"spec": map[string]any{"size": "s"}}
	widgetStatus = map[string]any{"status": map[string]any{"phase": "p"}}
)

var _ = Describe("the API server and managedFields", Ordered, func() {
	const goneText, lacksText = "request to convert CR to an invalid group/version: example.com/v0former", "field not declared in schema"
	const stayed = "test/stayed"
	var w *world

	// widget creates a Widget to which somebody has applied a label.
	widget := func(ctx SpecContext, name string) {
		w.ctx, w.name = ctx, types.NamespacedName{Namespace: w.Namespace, Name: name}
		Expect(suite.Client.Create(ctx, w.empty())).To(Succeed())
	}
	// apply applies fields as the field manager "ours".
	apply := func(status bool, fields map[string]any) error {
		object := w.empty()
		maps.Copy(object.Object, fields)
		applied := client.ApplyConfigurationFromUnstructured(object)
		if status {
			return suite.Client.Status().Apply(w.ctx, applied, client.FieldOwner("ours"), client.ForceOwnership)
		}
		return suite.Client.Apply(w.ctx, applied, client.FieldOwner("ours"), client.ForceOwnership)
	}

	BeforeAll(func(ctx SpecContext) {
		w = newWorld(ctx)
		w.kind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
		objects, err := manifests.Decode(strings.NewReader(widgetDefinition), "definition")
		Expect(err).NotTo(HaveOccurred())
		Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), objects)).To(Succeed())
	})

	It("V19: nobody can apply to an object with managedFields of a version that is gone, and patches are carried out", func(ctx SpecContext) {
		widget(ctx, "a")
		w.leaveVersion("widgets.example.com")
		Expect(apply(false, widgetSpec)).To(MatchError(ContainSubstring(goneText)))
		Expect(apply(true, widgetStatus)).To(MatchError(ContainSubstring(goneText)))

		w.patch(w.empty(), `{"spec":{"size":"patched"},"metadata":{"labels":{"`+stayed+`":"yes"}}}`)
		object := w.read(Default)
		Expect(text(object, "spec", "size")).To(Equal("patched"))
		Expect(object.GetManagedFields()).To(HaveEach(HaveField("Manager", Or(Equal(somebody), Equal(another)))), "the patch is recorded for nobody")
		Expect(apply(false, widgetSpec)).To(MatchError(ContainSubstring(goneText)), "and it cures nothing")

		By("removing the entries of the version")
		w.patch(w.empty(), `{"metadata":{"managedFields":[{}]}}`)
		Expect(apply(false, widgetSpec)).To(Succeed())
		Expect(apply(true, widgetStatus)).To(Succeed())
	})

	It("V19: the installer removes managedFields of versions that are gone, and leaves the others", func(ctx SpecContext) {
		widget(ctx, "installed")
		Expect(apply(false, widgetSpec)).To(Succeed())
		w.leaveVersion("widgets.example.com")
		installed := w.empty()
		installed.Object["status"] = map[string]any{"phase": "installed"}
		installed.SetLabels(map[string]string{"test/installed": "yes"})

		Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), []*unstructured.Unstructured{installed})).To(Succeed())
		object := w.read(Default)
		Expect(object.GetLabels()).To(HaveKeyWithValue("test/installed", "yes"))
		Expect(text(object, "status", "phase")).To(Equal("installed"))
		Expect(object.GetManagedFields()).To(And(ContainElement(HaveField("Manager", "ours")), Not(ContainElement(HaveField("Manager", somebody)))))
	})

	It("V19: a version that is listed and not served is no hindrance", func(ctx SpecContext) {
		widget(ctx, "b")
		w.leaveVersion("widgets.example.com")
		w.editDefinition("widgets.example.com", func(definition *unstructured.Unstructured) {
			all := versions(definition)
			added := all[0].(map[string]any)
			Expect(unstructured.SetNestedSlice(definition.Object, append(all, map[string]any{
				"name": formerVersion, "served": false, "storage": false, "schema": added["schema"], "subresources": added["subresources"],
			}), "spec", "versions")).To(Succeed())
		})
		w.eventually(func(g Gomega) { g.Expect(apply(false, widgetSpec)).To(Succeed()) })
		w.editDefinition("widgets.example.com", func(definition *unstructured.Unstructured) {
			Expect(unstructured.SetNestedSlice(definition.Object, versions(definition)[:1], "spec", "versions")).To(Succeed())
		})
	})

	It("V20: a field that nobody owns goes with a field beside it that is not applied any more", func(ctx SpecContext) {
		widget(ctx, "c")
		labels := func(labels map[string]any) map[string]any {
			return map[string]any{"metadata": map[string]any{"namespace": w.name.Namespace, "name": w.name.Name, "labels": labels}}
		}
		Expect(apply(false, labels(map[string]any{"ours": "1"}))).To(Succeed())
		w.leaveVersion("widgets.example.com")
		w.patch(w.empty(), `{"metadata":{"labels":{"`+stayed+`":"yes"}}}`)
		kept := slices.DeleteFunc(w.read(Default).GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager != "ours" })
		Expect(kept).To(HaveLen(1))
		content, err := json.Marshal(map[string]any{"metadata": map[string]any{"managedFields": kept}})
		Expect(err).NotTo(HaveOccurred())
		w.patch(w.empty(), string(content))
		Expect(w.read(Default).GetLabels()).To(HaveKey(stayed))
		Expect(apply(false, widgetSpec)).To(Succeed())
		Expect(w.read(Default).GetLabels()).To(BeEmpty())
	})

	It("V21: a field that the schema lacks makes an apply fail whatever the field validation is, and is dropped from a patch", func(ctx SpecContext) {
		widget(ctx, "d")
		newer := map[string]any{"spec": map[string]any{"size": "s", "newer": "x"}}
		Expect(apply(false, newer)).To(MatchError(ContainSubstring(lacksText)))
		object := w.empty()
		object.Object["spec"] = newer["spec"]
		content, err := object.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		Expect(suite.Client.Patch(ctx, object, client.RawPatch(types.ApplyPatchType, content), client.FieldOwner("ours"), client.ForceOwnership,
			client.FieldValidation("Ignore"))).To(MatchError(ContainSubstring(lacksText)))
		Expect(apply(true, map[string]any{"status": map[string]any{"phase": "p", "newer": "x"}})).To(MatchError(ContainSubstring(lacksText)))

		w.patch(w.empty(), `{"spec":{"size":"s","newer":"x"}}`)
		Expect(w.read(Default).Object["spec"]).To(Equal(map[string]any{"size": "s"}))
	})
})
