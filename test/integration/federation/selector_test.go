// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

var _ = Describe("the cluster selector", func() {
	// everywhere creates an object that is everywhere first, so that the withdrawal from the last cluster shows that its selector, which it gets
	// together with other content, was evaluated.
	everywhere := func(ctx context.Context, selector string) *corev1.ConfigMap {
		GinkgoHelper()
		object := newScene(ctx).configMap(ctx, "c", nil)
		expectDelivered(ctx, object, "eu1", "eu2", "us1")
		before := object.DeepCopy()
		object.Annotations = selecting(selector)
		object.Data["v"] = "2"
		Expect(hub.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
		return object
	}

	DescribeTable("selects the clusters whose labels match", func(ctx SpecContext, selector string, clusters ...string) {
		object := everywhere(ctx, selector)
		expectDelivered(ctx, object, clusters...)
		Expect(notes(ctx, Default, object, federation.ReasonClusterSelectorInvalid)).To(BeEmpty())
	},
		Entry("federated-selector F2: two requirements are ANDed",
			`[{"key":"location","operator":"in","values":["europe"]},{"key":"environment","operator":"==","values":["prod"]}]`, "eu1"),
		Entry("federated-selector F3: the empty selector selects all", `[]`, "eu1", "eu2", "us1"),
		Entry("federated-selector F4: version > 14", `[{"key":"version","operator":">","values":["14"]}]`, "eu1"),
		Entry("federated-selector F6: Lt does not match an absent label", `[{"key":"version","operator":"Lt","values":["15"]}]`, "eu2"),
		Entry("federated-selector F8: != matches an absent label", `[{"key":"load","operator":"!=","values":["3"]}]`, "eu2", "us1"),
		Entry("federated-selector F9: notin matches an absent label", `[{"key":"load","operator":"notin","values":["3"]}]`, "eu2", "us1"),
		Entry("federated-selector F10: exists", `[{"key":"load","operator":"exists"}]`, "eu1"),
		Entry("federated-selector F10: does not exist", `[{"key":"load","operator":"!"}]`, "eu2", "us1"),
		Entry("federated-selector F11: a range of one key",
			`[{"key":"version","operator":"Gt","values":["8"]},{"key":"version","operator":"Lt","values":["10"]}]`, "eu2"),
		Entry("federated-selector F25: objects of the control plane alone", federation.ControlPlaneOnly),
	)

	DescribeTable("withdraws from all clusters for a selector that matches none only when the annotation releases it", func(
		ctx SpecContext, selector string,
	) {
		object := everywhere(ctx, selector)
		expectEvent(ctx, object, federation.ReasonRemovalHeld, "matches no cluster in scope", "eu1", "eu2", "us1")
		Expect(clustersOf(ctx, Default, object)).To(ConsistOf("eu1", "eu2", "us1"))
		advice := release.FindStringSubmatch(notes(ctx, Default, object, federation.ReasonRemovalHeld)[0])
		Expect(advice).To(HaveLen(2), "the Event says how to release the removals")
		annotate(ctx, object, map[string]string{removalbudget.ReleaseAnnotation: advice[1]})
		expectDelivered(ctx, object)
		Expect(notes(ctx, Default, object, federation.ReasonClusterSelectorInvalid)).To(BeEmpty())
	},
		Entry("federated-selector F5: Gt is strict", `[{"key":"version","operator":"Gt","values":["15"]}]`),
		Entry("federated-selector F7: Gt does not match a label that is no number", `[{"key":"location","operator":"Gt","values":["1"]}]`),
	)

	It("federated-selector F1: without an annotation every cluster in scope gets a copy", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", nil)
		expectDelivered(ctx, object, "eu1", "eu2", "us1")
		expectCopies(ctx, object, eu1, eu2, us1)
		expectEvent(ctx, object, federation.ReasonDelivered, "eu1", "eu2", "us1")
	})

	It("federated-selector F2: the members that do not match have no copy", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", selecting(
			`[{"key":"location","operator":"In","values":["europe"]},{"key":"environment","operator":"=","values":["prod"]}]`))
		expectDelivered(ctx, object, "eu1")
		expectCopies(ctx, object, eu1)
	})

	const (
		annotation = "annotation " + federation.SelectorAnnotation + ": "
		first      = annotation + "requirement[0]: "
	)

	// The object is in the clusters already where that shows that an error withdraws nothing, which F14 is about; here it is new.
	DescribeTable("an error of the selector distributes nothing and is told", func(ctx SpecContext, selector string, words ...string) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", selecting(selector))
		expectEvent(ctx, object, federation.ReasonClusterSelectorInvalid, words...)

		// An object that comes later is delivered; the invalid one would have been, too.
		expectDelivered(ctx, s.configMap(ctx, "later", nil), "eu1", "eu2", "us1")
		Expect(clustersOf(ctx, Default, object)).To(BeEmpty())
	},
		Entry("federated-selector F12: values on exists", `[{"key":"load","operator":"exists","values":["3"]}]`,
			first, "values set must be empty for exists and does not exist"),
		Entry("federated-selector F12: no values on in", `[{"key":"load","operator":"in","values":[]}]`,
			first, "for 'in', 'notin' operators, values set can't be empty"),
		Entry("federated-selector F12: two values on ==", `[{"key":"load","operator":"==","values":["1","2"]}]`,
			first, "exact-match compatibility requires one single value"),
		Entry("federated-selector F12: a fraction", `[{"key":"load","operator":"Gt","values":["1.5"]}]`,
			first, "for 'Gt', 'Lt' operators, the value must be an integer"),
		Entry("federated-selector F12: a negative number", `[{"key":"load","operator":"Gt","values":["-5"]}]`, first, `"-5"`),
		Entry("federated-selector F12: the operator IN", `[{"key":"load","operator":"IN","values":["3"]}]`,
			first, `operator: Unsupported value: "IN"`),
		Entry("federated-selector F12: no operator", `[{"key":"load","values":["3"]}]`, first, `operator: Unsupported value: ""`),
		Entry("federated-selector F12: a key with a space", `[{"key":"a b","operator":"exists"}]`, first, `"a b"`),
		Entry("federated-selector F12: a value of 64 characters",
			`[{"key":"load","operator":"in","values":["`+strings.Repeat("x", 64)+`"]}]`, first, "63"),
		Entry("federated-selector F12: each wrong requirement", `[{"key":"a b","operator":"exists"},{"key":"load","operator":"IN"}]`,
			first, "requirement[1]: "),
		Entry("federated-selector F13: an empty value", ``, annotation, "unexpected end of JSON input"),
		Entry("federated-selector F13: an object", `{}`, annotation, "cannot unmarshal object into Go value"),
		Entry("federated-selector F13: null", `null`, annotation, "null"),
		Entry("federated-selector F13: no JSON", `[{"not able to parse",}]`, annotation, "invalid character ',' after object key"),
		Entry("federated-selector F13: text after the array", `[] x`, annotation, "invalid character 'x' after top-level value"),
		Entry("federated-selector F13: values are a string", `[{"key":"load","operator":"in","values":"b"}]`,
			annotation, "cannot unmarshal string into Go struct field"),
		Entry("federated-selector F13: values are numbers", `[{"key":"load","operator":"in","values":[1]}]`, annotation, "cannot unmarshal number"),
		Entry("federated-selector F13: an unknown field", `[{"key":"load","operator":"exists","value":"3"}]`, annotation, `unknown field "value"`),
	)
})
