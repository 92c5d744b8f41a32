// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// setTimesOfTaints has an admission webhook do to the clusters of a fixture what upstream's does to all: it sets timeAdded of a taint that
// is new, and refuses one that is sent along. It returns when it is in force, and ends with the spec.
func setTimesOfTaints(ctx context.Context, f *suite.Fixture) {
	GinkgoHelper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		defer GinkgoRecover()
		review := &admissionv1.AdmissionReview{}
		Expect(json.NewDecoder(request.Body).Decode(review)).To(Succeed())
		review.Response = timesOfTaints(review.Request)
		answer.Header().Set("Content-Type", "application/json")
		Expect(json.NewEncoder(answer).Encode(review)).To(Succeed())
	}))
	DeferCleanup(server.Close)

	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: f.Name("times-of-taints")},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "times-of-taints.example.com", AdmissionReviewVersions: []string{"v1"},
			ClientConfig:   admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: authority},
			FailurePolicy:  ptr.To(admissionregistrationv1.Fail),
			SideEffects:    ptr.To(admissionregistrationv1.SideEffectClassNone),
			ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{suite.FixtureLabel: f.Namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{clusterv1.GroupName}, APIVersions: []string{"v1"}, Resources: []string{"managedclusters"},
				},
			}},
		}},
	}
	Expect(suite.Client.Create(ctx, configuration)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { //nolint:contextcheck // The spec's own is over then.
		Expect(suite.Client.Delete(ctx, configuration)).To(Succeed())
	})

	probe := f.Cluster(ctx, "", "probe", suite.IsAvailable(metav1.ConditionTrue))
	Eventually(func() error {
		refused := probe.DeepCopy()
		suite.Tainted("probe", "", clusterv1.TaintEffectNoSelect)(refused)
		return suite.Client.Update(ctx, refused)
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(MatchError(ContainSubstring("It is not allowed to set TimeAdded")))
	Expect(suite.Client.Delete(ctx, probe)).To(Succeed())
}

// timesOfTaints answers one question.
func timesOfTaints(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	var before, after clusterv1.ManagedCluster
	Expect(json.Unmarshal(request.Object.Raw, &after)).To(Succeed())
	if len(request.OldObject.Raw) > 0 {
		Expect(json.Unmarshal(request.OldObject.Raw, &before)).To(Succeed())
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}

	operations := []operation{}
	for i, taint := range after.Spec.Taints {
		known := slices.ContainsFunc(before.Spec.Taints, func(t clusterv1.Taint) bool { return t.Key == taint.Key && t.Effect == taint.Effect })
		switch {
		case known:
		case request.Operation == admissionv1.Update && !taint.TimeAdded.IsZero():
			return &admissionv1.AdmissionResponse{UID: request.UID, Result: &metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest,
				Message: fmt.Sprintf("It is not allowed to set TimeAdded of Taint %q.", taint.Key),
			}}
		default:
			operations = append(operations, operation{
				Op: "add", Path: fmt.Sprintf("/spec/taints/%d/timeAdded", i), Value: metav1.NewTime(time.Now()),
			})
		}
	}

	patch, err := json.Marshal(operations)
	Expect(err).NotTo(HaveOccurred())
	return &admissionv1.AdmissionResponse{
		UID: request.UID, Allowed: true, Patch: patch, PatchType: ptr.To(admissionv1.PatchTypeJSONPatch),
	}
}
