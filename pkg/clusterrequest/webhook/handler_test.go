// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// reviewed returns the response to a request of eve. An old object of "" is a creation.
func reviewed(t *testing.T, object, old string) admission.Response {
	t.Helper()
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(object)},
		UserInfo: authenticationv1.UserInfo{
			Username: "eve", UID: "u1", Groups: []string{"dev"}, Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a", "b"}},
		},
	}}
	if old != "" {
		request.Operation, request.OldObject = admissionv1.Update, runtime.RawExtension{Raw: []byte(old)}
	}
	return Handlers()[Path].Handle(t.Context(), request)
}

func TestRequester(t *testing.T) {
	const (
		eve, bob, none = `{"spec":{"ttl":"1h","requester":{"username":"eve"}}}`, `{"spec":{"ttl":"1h","requester":{"username":"bob"}}}`,
			`{"spec":{"ttl":"1h"}}`
		changed, changedByBob = `{"spec":{"ttl":"2h"}}`, `{"spec":{"ttl":"2h","requester":{"username":"bob"}}}`
	)
	user := openmcpv1alpha1.Requester{Username: "eve", UID: "u1", Groups: []string{"dev"}, Extra: map[string][]string{"scopes": {"a", "b"}}}
	former := map[string]any{"username": "bob"}
	patch := jsonpatch.NewOperation
	for _, tc := range []struct {
		reason, object, old string
		want                []jsonpatch.JsonPatchOperation
	}{
		{reason: "a new object gets the user", object: none, want: []jsonpatch.JsonPatchOperation{patch("add", requesterPath, user)}},
		{
			reason: "cluster-request C40: what the user wrote is replaced", object: bob,
			want: []jsonpatch.JsonPatchOperation{patch("replace", requesterPath, user)},
		},
		{
			reason: "a change of the spec is the user's", object: changedByBob, old: bob,
			want: []jsonpatch.JsonPatchOperation{patch("replace", requesterPath, user)},
		},
		{
			reason: "also where the requester is left out", object: changed, old: bob,
			want: []jsonpatch.JsonPatchOperation{patch("add", requesterPath, user)},
		},
		{reason: "no change of the spec keeps the requester", object: bob, old: bob},
		{
			reason: "a changed requester is no change of the spec", object: eve, old: bob,
			want: []jsonpatch.JsonPatchOperation{patch("replace", requesterPath, former)},
		},
		{
			reason: "neither is a removed one", object: none, old: bob,
			want: []jsonpatch.JsonPatchOperation{patch("add", requesterPath, former)},
		},
		{
			reason: "nor one that was never there", object: eve, old: none,
			want: []jsonpatch.JsonPatchOperation{patch("remove", requesterPath, nil)},
		},
		{reason: "an object without a requester that stays as it is", object: none, old: none},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got := reviewed(t, tc.object, tc.old)
			if !got.Allowed {
				t.Fatalf("refused: %v", got.Result)
			}
			if diff := cmp.Diff(tc.want, got.Patches); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

// An AccessRequest without a verified requester is never admitted.
func TestUnreadableIsRefused(t *testing.T) {
	for reason, review := range map[string][2]string{
		"no JSON": {"{", ""}, "no spec": {"{}", ""}, "a spec of another type": {`{"spec":[]}`, ""},
		"an old object without a spec": {`{"spec":{}}`, "{}"},
	} {
		if got := reviewed(t, review[0], review[1]); got.Allowed || got.Result.Code != http.StatusBadRequest {
			t.Errorf("%s: %+v, want a bad request", reason, got)
		}
	}
}
