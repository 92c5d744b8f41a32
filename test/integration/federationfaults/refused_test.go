package federationfaults

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"

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

// namespaceOf selects the namespace of a cluster.
func (w *world) namespaceOf(short string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.Name(short)}}
}

// policy returns what makes the API server refuse the deletion of the works of a cluster with a reason.
func policy(reason metav1.StatusReason) func(w *world, short string) []client.Object {
	return func(w *world, short string) []client.Object {
		name := w.Name("keep-works")

		return []client.Object{
			&admissionregistrationv1.ValidatingAdmissionPolicy{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
					MatchConstraints: &admissionregistrationv1.MatchResources{
						NamespaceSelector: w.namespaceOf(short),
						ResourceRules:     []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: rulesOfDeletions()}},
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

		authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})

		return []client.Object{&admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: w.Name("keep-works")},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "keep-works.example.com", AdmissionReviewVersions: []string{"v1"},
				ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: authority},
				FailurePolicy:     ptr.To(admissionregistrationv1.Fail),
				SideEffects:       ptr.To(admissionregistrationv1.SideEffectClassNone),
				NamespaceSelector: w.namespaceOf(short),
				Rules:             []admissionregistrationv1.RuleWithOperations{rulesOfDeletions()},
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

var _ = Describe("Works whose deletion is refused", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) { throughProxy(ctx) })

	DescribeTable("federated-selector 3.1.4, 3.1.5: are told once and deleted as soon as they can be", func(
		ctx SpecContext, refusing func(w *world, short string) []client.Object,
	) {
		w := newWorld(ctx)
		w.members(ctx, "set", 1, 3, func(i int) string { return []string{"", "aboard", "aboard", "ashore"}[i] })
		w.configMap(ctx, "cm", selecting(wave, "aboard"))
		w.expectDelivered(ctx, "cm", "c001", "c002")

		refusals := refusing(w, "c002")
		for _, object := range refusals {
			Expect(suite.Client.Create(ctx, object)).To(Succeed())
		}

		admit := func(ctx context.Context) {
			GinkgoHelper()

			for _, object := range refusals {
				Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, object))).To(Succeed())
			}
		}
		DeferCleanup(admit)

		work := w.work("c002")
		deleting := func() error { return client.NewDryRunClient(suite.Client).Delete(ctx, work) }
		Eventually(deleting).WithContext(ctx).WithTimeout(suite.Timeout).Should(MatchError(ContainSubstring(whyKept)))

		failures := func(g Gomega) []eventsv1.Event { return w.failures(ctx, g) }

		By("withdrawing the object from the cluster")
		w.relabel(ctx, wave, "ashore", "c002")
		w.relabel(ctx, wave, "aboard", "c003")

		Eventually(failures).WithContext(ctx).WithTimeout(suite.Timeout).Should(HaveLen(1))
		Consistently(failures).WithContext(ctx).WithTimeout(suite.QuietPeriod).
			Should(ConsistOf(And(
				HaveField("Note", And(
					HavePrefix("the API server refuses the deletion of ManifestWork "+work.Namespace+"/"+work.Name+": "), ContainSubstring(whyKept))),
				HaveField("Series", BeNil()))), "one Event for one answer")
		Expect(w.clusters(ctx, Default)).To(ConsistOf("c001", "c002", "c003"))

		By("deleting the object")
		Expect(suite.Client.Delete(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "cm"}})).To(Succeed())
		Eventually(func(g Gomega) { g.Expect(w.clusters(ctx, g)).To(ConsistOf("c002")) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Consistently(failures).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(HaveLen(1))

		By("admitting the deletion")
		admit(ctx)
		suite.ExpectGone(ctx, work)
		suite.ExpectGone(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "cm"}})
	},
		Entry("by a policy with 403", policy(metav1.StatusReasonForbidden)),
		Entry("by a policy with 422", policy(metav1.StatusReasonInvalid)),
		Entry("by a webhook with 403", webhook(http.StatusForbidden)),
		Entry("by a webhook with 400", webhook(http.StatusBadRequest)))
})
