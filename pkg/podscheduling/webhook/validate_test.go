// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// policyKind returns a kind of pod scheduling policy.
func policyKind(name string) metav1.GroupVersionKind {
	return metav1.GroupVersionKind{Group: "kupid.gardener.cloud", Version: "v1alpha1", Kind: name}
}

func TestValidate(t *testing.T) {
	const (
		everywhere = "namespaceSelector: {}, podSelector: {}, "
		required   = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
	)
	namespaced, cluster := policyKind("PodSchedulingPolicy"), policyKind("ClusterPodSchedulingPolicy")
	for _, tc := range []struct {
		reason   string
		kind     metav1.GroupVersionKind
		metadata string
		spec     string
		code     int32 // 0 for http.StatusOK
		messages []string
		warning  string
	}{
		{reason: "2.1.1: a policy", kind: cluster, spec: everywhere + "nodeSelector: {pool: etcd}"},
		{reason: "2.1.1: a policy of a namespace", kind: namespaced, spec: "podSelector: {}, nodeSelector: {pool: etcd}"},
		{reason: "2.1.7: a policy that selects no pods", kind: namespaced, spec: "nodeSelector: {pool: etcd}",
			warning: "spec.podSelector: is absent"},
		{reason: "2.1.7: a policy without a constraint", kind: namespaced, spec: "podSelector: {}", warning: "spec: has no constraint"},
		{reason: "K37: empty required terms", kind: cluster, spec: everywhere + required + "[{}]}}}", warning: "has only empty terms"},
		{reason: "K27: every error is in the message", kind: cluster, code: http.StatusForbidden,
			spec: everywhere + "nodeName: A_B, tolerations: [{operator: Equal}], " + required + "[{matchExpressions: [{key: a, operator: Near}]}]}}}",
			messages: []string{
				`spec.nodeName: Invalid value: "A_B"`,
				"spec.tolerations[0].operator: Invalid value", "operator must be Exists when `key` is empty",
				"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator",
				"not a valid selector operator",
			}},
		{reason: "2.1.7: a finalizer without a domain", kind: namespaced, metadata: ", finalizers: [mine]", spec: "podSelector: {}, nodeName: n1",
			code: http.StatusForbidden, messages: []string{"metadata.finalizers"}},
		{reason: "2.1.7: an invalid policy loses its finalizers", kind: namespaced, spec: "nodeName: A_B",
			metadata: ", deletionTimestamp: '2026-01-01T00:00:00Z'"},
		{reason: "2.1.7: a policy of another form", kind: namespaced, spec: "tolerations: none", code: http.StatusBadRequest,
			messages: []string{"PodSchedulingPolicy etcd cannot be read", "tolerations", "correct the field"}},
		{reason: "2.1.6: another kind", kind: deployments, spec: "podSelector: {}", code: http.StatusBadRequest,
			messages: []string{`kind "Deployment" is no pod scheduling policy`, "remove it from the rules"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			handler := Handlers(cached(t), &sentEvents{})[ValidatePath]
			object := "{metadata: {name: etcd, namespace: team-a" + tc.metadata + "}, spec: {" + tc.spec + "}}"
			if tc.kind == cluster {
				object = strings.Replace(object, ", namespace: team-a", "", 1)
			}

			want := map[string]float64{"processed": 1, "allowed": 1}
			if tc.code != 0 {
				want = map[string]float64{"processed": 1, "denied": 1}
			}
			if tc.code == http.StatusBadRequest {
				want["error"] = 1
			}
			var response *admissionv1.AdmissionResponse
			growth := counted(t, reviews, func() { response = review(t, handler, creation(t, tc.kind, object)) })

			if response.Allowed != (tc.code == 0) || tc.code != 0 && response.Result.Code != tc.code {
				t.Fatalf("allowed %t: %+v, want the code %d", response.Allowed, response.Result, tc.code)
			}
			for _, message := range tc.messages {
				if !strings.Contains(response.Result.Message, message) {
					t.Errorf("message %q lacks %q", response.Result.Message, message)
				}
			}

			if tc.code == http.StatusForbidden && len(response.Result.Details.Causes) == 0 {
				t.Error("the details have no cause")
			}
			if warnings := strings.Join(response.Warnings, "\n"); (tc.warning == "") != (warnings == "") || !strings.Contains(warnings, tc.warning) {
				t.Errorf("warnings %q, want one with %q", warnings, tc.warning)
			}
			if diff := cmp.Diff(want, growth); diff != "" {
				t.Errorf("%s (-want +got):\n%s", reviews, diff)
			}
		})
	}
}
