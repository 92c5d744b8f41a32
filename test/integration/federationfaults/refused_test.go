// SPDX-License-Identifier: Apache-2.0

package federationfaults

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// whyKept is in the answer of everything that refuses deletions.
const whyKept = "works are kept this week"

// rulesOfDeletions match the deletion of ManifestWorks.
func rulesOfDeletions() admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Delete},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{workv1.GroupName}, APIVersions: []string{"v1"}, Resources: []string{worksResource},
		},
	}
}

// selectors select the works of the objects of the world in a cluster.
func (w *world) selectors(short string) (namespaces, objects *metav1.LabelSelector) {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.fleet.Name(short)}},
		&metav1.LabelSelector{MatchLabels: map[string]string{federation.NamespaceLabel: w.Namespace}}
}

// policy returns what makes the API server refuse the deletion of the works of a cluster with a reason.
func policy(reason metav1.StatusReason) func(w *world, short string) []client.Object {
	return func(w *world, short string) []client.Object {
		name := w.Name("keep-works")
		namespaces, objects := w.selectors(short)
		return []client.Object{
			&admissionregistrationv1.ValidatingAdmissionPolicy{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
					MatchConstraints: &admissionregistrationv1.MatchResources{
						NamespaceSelector: namespaces, ObjectSelector: objects,
						ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: rulesOfDeletions()}},
					},
					Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: whyKept, Reason: &reason}},
				},
			},
			&admissionregistrationv1.ValidatingAdmissionPolicyBinding{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
					PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
				},
			},
		}
	}
}

// webhook returns what makes the API server ask a webhook that refuses the deletion of the works of a cluster with a code.
func webhook(code int32) func(w *world, short string) []client.Object {
	return func(w *world, short string) []client.Object {
		server := httptest.NewTLSServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
			defer GinkgoRecover()
			review := &admissionv1.AdmissionReview{}
			Expect(json.NewDecoder(request.Body).Decode(review)).To(Succeed())
			review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Code: code, Message: whyKept}}
			if code == http.StatusBadRequest {
				review.Response.Result.Reason = metav1.StatusReasonBadRequest
			}
			answer.Header().Set("Content-Type", "application/json")
			Expect(json.NewEncoder(answer).Encode(review)).To(Succeed())
		}))
		DeferCleanup(server.Close)

		namespaces, objects := w.selectors(short)
		authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		return []client.Object{&admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: w.Name("keep-works")},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "keep-works.example.com", AdmissionReviewVersions: []string{"v1"},
				ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: authority},
				FailurePolicy:     ptr.To(admissionregistrationv1.Fail),
				SideEffects:       ptr.To(admissionregistrationv1.SideEffectClassNone),
				NamespaceSelector: namespaces, ObjectSelector: objects,
				Rules: []admissionregistrationv1.RuleWithOperations{rulesOfDeletions()},
			}},
		}}
	}
}

// failures returns the Events DeliveryFailed about "cm".
func (w *world) failures(ctx context.Context, g Gomega) []eventsv1.Event {
	list := &eventsv1.EventList{}
	g.Expect(suite.Client.List(ctx, list, client.InNamespace(w.Namespace))).To(Succeed())
	var found []eventsv1.Event
	for _, event := range list.Items {
		if event.Regarding.Name == "cm" && event.Reason == federation.ReasonDeliveryFailed {
			found = append(found, event)
		}
	}
	return found
}

// refusing has what refuses the deletion of the works of a world in a cluster.
var refusing = map[string]func(w *world, short string) []client.Object{
	"by a policy with 403":  policy(metav1.StatusReasonForbidden),
	"by a policy with 422":  policy(metav1.StatusReasonInvalid),
	"by a webhook with 403": webhook(http.StatusForbidden),
	"by a webhook with 400": webhook(http.StatusBadRequest),
}

// refused is a world of which the deletion of the work of "cm" in c002 is refused.
type refused struct {
	*world

	work     *workv1.ManifestWork
	refusals []client.Object
}

// refuse has the deletion refused, and returns when the API server does so.
func (r *refused) refuse(ctx context.Context, objects []client.Object) {
	GinkgoHelper()
	r.work, r.refusals = r.world.work("c002"), objects
	for _, object := range objects {
		Expect(suite.Client.Create(ctx, object)).To(Succeed())
	}
	DeferCleanup(r.admit)
	deleting := func() error { return client.NewDryRunClient(suite.Client).Delete(ctx, r.work) }
	Eventually(deleting).WithContext(ctx).WithTimeout(suite.Timeout).Should(MatchError(ContainSubstring(whyKept)))
}

// admit ends the refusal.
func (r *refused) admit(ctx context.Context) {
	GinkgoHelper()
	for _, object := range r.refusals {
		Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, object))).To(Succeed())
	}
}

// told expects exactly one Event about the refused deletion, with the name of the work and the text of the response.
func (r *refused) told(ctx context.Context, g Gomega) {
	g.Expect(r.failures(ctx, g)).To(ConsistOf(And(
		HaveField("Note", And(
			HavePrefix("the API server refuses the deletion of ManifestWork "+r.work.Namespace+"/"+r.work.Name+": "), ContainSubstring(whyKept))),
		HaveField("Series", BeNil()))))
}

var _ = Describe("Works whose deletion is refused", Ordered, ContinueOnFailure, func() {
	// The worlds share clusters, and the deletions are refused at the same time.
	var (
		shared *world
		worlds map[string]*refused
	)
	underTest.Behind()

	BeforeAll(func(ctx SpecContext) {
		shared, worlds = newWorld(ctx), map[string]*refused{}
		shared.members(ctx, "set", 1, 3, func(i int) string { return []string{"", "aboard", "aboard", "ashore"}[i] })
		for name, objects := range refusing {
			w := &refused{world: shared.another(ctx)}
			worlds[name] = w
			w.configMap(ctx, "cm", selecting(wave, "aboard"))
			w.expectDelivered(ctx, "cm", "c001", "c002")
			w.refuse(ctx, objects(w.world, "c002"))
		}
	})

	// all waits until a condition holds in all worlds. From then on each world must have exactly one Event about the refusal.
	all := func(ctx context.Context, condition func(g Gomega, w *refused)) {
		GinkgoHelper()
		for name, w := range worlds {
			Eventually(func(g Gomega) { condition(g, w) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), name)
		}
		Consistently(func(g Gomega) {
			for _, w := range worlds {
				w.told(ctx, g)
			}
		}).WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Succeed(), "one Event for one answer")
	}

	It("federated-selector 3.1.4, 3.1.5: are told once when an object is withdrawn", func(ctx SpecContext) {
		shared.relabel(ctx, wave, "ashore", "c002")
		shared.relabel(ctx, wave, "aboard", "c003")
		all(ctx, func(g Gomega, w *refused) {
			w.told(ctx, g)
			g.Expect(w.clusters(ctx, g)).To(ConsistOf("c001", "c002", "c003"))
		})
	})

	It("federated-selector 3.1.4, 3.1.5: are told once when an object is deleted", func(ctx SpecContext) {
		for _, w := range worlds {
			Expect(suite.Client.Delete(ctx, named(w.world, "cm"))).To(Succeed())
		}
		all(ctx, func(g Gomega, w *refused) { g.Expect(w.clusters(ctx, g)).To(ConsistOf("c002")) })
	})

	Context("federated-selector 3.1.4, 3.1.5: are deleted as soon as they can be", func() {
		BeforeAll(func(ctx SpecContext) {
			for _, w := range worlds {
				w.admit(ctx)
			}
		})

		for _, name := range slices.Sorted(maps.Keys(refusing)) {
			It(name, func(ctx SpecContext) {
				w := worlds[name]
				// The hub learns of it by its next retry, a minute after the last one at most.
				suite.ExpectGoneWithin(ctx, suite.SettleTimeout, w.work)
				suite.ExpectGone(ctx, named(w.world, "cm"))
			})
		}
	})
})
