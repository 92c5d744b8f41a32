// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
)

const (
	reviews = "kupid_aggr_requests_total"
	skips   = "placement_hub_podscheduling_skips_total"
)

func mutating(source *Source) (admission.Handler, *sentEvents) {
	sent := &sentEvents{}
	return Handlers(source, sent)[MutatePath], sent
}

func TestMutate(t *testing.T) {
	pool := clusterPolicy(t, "pool", "nodeSelector: {pool: etcd}")
	update := func(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionRequest {
		request.Operation = admissionv1.Update
		return request
	}
	scale := creation(t, deployments, template("{}"))
	scale.SubResource = "scale"
	nowhere := creation(t, deployments, template("{}"))
	nowhere.Namespace = "team-new"
	for _, tc := range []struct {
		reason  string
		source  *Source
		request *admissionv1.AdmissionRequest
		patch   string // "" for none
		message string // a part of it
		warning string // a part of the only one; "" for none
		counted map[string]float64
	}{
		{reason: "K1: the template of a StatefulSet that matches", source: cached(t, pool), request: creation(t, statefulSets, template("{}")),
			patch:   `[{"op":"add","path":"/spec/template/spec/nodeSelector","value":{"pool":"etcd"}}]`,
			counted: map[string]float64{"processed": 1, "allowed": 1, "mutated": 1}},
		{reason: "K30: a policy that changes nothing", source: cached(t, pool),
			request: creation(t, deployments, template("{nodeSelector: {pool: etcd}}")), counted: map[string]float64{"processed": 1, "allowed": 1}},
		{reason: "K34: no policy at all", source: cached(t), request: creation(t, deployments, template("{}")),
			counted: map[string]float64{"processed": 1, "allowed": 1}},
		{reason: "K23: a ReplicationController without template", source: cached(t, pool),
			request: creation(t, metav1.GroupVersionKind{Version: "v1", Kind: "ReplicationController"},
				"{metadata: {name: etcd}, spec: {replicas: 1}}"),
			message: "has no pod template"},
		{reason: "K20: an update of a Job", source: cached(t, pool), request: update(creation(t, jobs, template("{}"))), message: "immutable"},
		{reason: "2.1.2: an update of a Deployment is merged like its creation", source: cached(t, pool),
			request: update(creation(t, deployments, template("{}"))),
			patch:   `[{"op":"add","path":"/spec/template/spec/nodeSelector","value":{"pool":"etcd"}}]`},
		{reason: "2.1.2: a subresource, which only the rules of somebody else would bring here", source: cached(t, pool), request: scale,
			message: "subresources"},
		{reason: "K35: a Deployment with a deletionTimestamp", source: cached(t, pool),
			request: update(creation(t, deployments, "{metadata: {name: etcd, deletionTimestamp: '2026-01-01T00:00:00Z'}, "+
				"spec: {template: {metadata: {labels: {app: etcd}}, spec: {}}}}")), message: "being deleted"},
		{reason: "2.1.6: a kind that has no pod spec", source: cached(t, pool),
			request: creation(t, metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "{}"),
			message: "no pod scheduling policy was injected into ConfigMap team-a/etcd: kind ConfigMap has no pod spec",
			warning: "no pod scheduling policy was injected into ConfigMap team-a/etcd",
			counted: map[string]float64{"processed": 1, "allowed": 1, "error": 1}},
		{reason: "2.1.6: an object that cannot be decoded", source: cached(t, pool),
			request: creation(t, deployments, template("{nodeSelector: [pool]}")), message: "nodeSelector", warning: "nodeSelector",
			counted: map[string]float64{"processed": 1, "allowed": 1, "error": 1}},
		{reason: "2.1.6: a request without an object", source: cached(t, pool), request: &admissionv1.AdmissionRequest{UID: "1", Kind: deployments},
			message: "decode Deployment.apps", warning: "decode Deployment.apps",
			counted: map[string]float64{"processed": 1, "allowed": 1, "error": 1}},
		{reason: "K29: policies that can be read neither from the cache nor from the API server",
			source:  unsynced(broken(t)),
			request: creation(t, deployments, template("{}")),
			message: "reading pod scheduling policies: the API server is unreachable", warning: "the API server is unreachable",
			counted: map[string]float64{"processed": 1, "allowed": 1, "error": 1}},
		{reason: "2.1.6: a namespace that cannot be read", source: cached(t, pool), request: nowhere,
			message: "reading the labels of namespace team-new: the API server is unreachable", warning: "update or recreate it",
			counted: map[string]float64{"processed": 1, "allowed": 1, "error": 1}},
		{reason: "2.1.6: a panic is an error, too", source: nil, request: creation(t, deployments, template("{}")),
			message: "panic", warning: "panic", counted: map[string]float64{"processed": 1, "allowed": 1, "error": 1}},
		{reason: "2.1.4: a conflict", source: cached(t, pool), request: creation(t, deployments, template("{nodeSelector: {pool: web}}")),
			warning: `ClusterPodSchedulingPolicy pool: nodeSelector[pool]: "web" is kept, not "etcd"`,
			counted: map[string]float64{"processed": 1, "allowed": 1}},
		{reason: "2.1.6: a policy that became invalid while the webhook was down",
			source:  cached(t, clusterPolicy(t, "bad", "nodeName: A_B"), pool),
			request: creation(t, deployments, template("{}")),
			patch:   `[{"op":"add","path":"/spec/template/spec/nodeSelector","value":{"pool":"etcd"}}]`,
			warning: "ClusterPodSchedulingPolicy bad: the policy is invalid and skipped: spec.nodeName: Invalid value: \"A_B\"",
			counted: map[string]float64{"processed": 1, "allowed": 1, "mutated": 1, "error": 1}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			handler, _ := mutating(tc.source)
			var response *admissionv1.AdmissionResponse
			growth := counted(t, reviews, func() { response = review(t, handler, tc.request) })
			if tc.patch == "" {
				allowedWithoutPatch(t, response)
			} else if !response.Allowed || string(response.Patch) != tc.patch {
				t.Errorf("allowed %t with the patch %s, want %s", response.Allowed, response.Patch, tc.patch)
			}

			if !strings.Contains(response.Result.Message, tc.message) {
				t.Errorf("message %q lacks %q", response.Result.Message, tc.message)
			}
			if warnings := strings.Join(response.Warnings, "\n"); (tc.warning == "") != (warnings == "") || !strings.Contains(warnings, tc.warning) {
				t.Errorf("warnings %q, want one with %q", warnings, tc.warning)
			}
			if diff := cmp.Diff(tc.counted, growth); tc.counted != nil && diff != "" {
				t.Errorf("%s (-want +got):\n%s", reviews, diff)
			}
		})
	}
}

// K24: fields that no Go type has survive, whatever the patch changes (docs/spec/pod-scheduling-policy.md 2.1.5).
func TestUnknownFieldsSurvive(t *testing.T) {
	const object = "{future: {a: [1]}, metadata: {name: etcd, future: 1e400}, spec: {future: x, template: {metadata: {labels: {app: etcd}}, spec: " +
		"{future: [{}], affinity: {future: 1, nodeAffinity: {future: 2, requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: " +
		"[{matchExpressions: [{key: arch, operator: In, values: [arm64], future: 3}], future: 4}]}}}, tolerations: [{key: a, future: 5}]}}}}"
	handler, _ := mutating(cached(t, clusterPolicy(t, "all", `
nodeSelector: {pool: etcd}
schedulerName: custom
tolerations: [{key: pool, operator: Exists}]
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions: [{key: pool, operator: In, values: [etcd]}]
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
    - {topologyKey: zone, labelSelector: {}}
`)))
	request := creation(t, deployments, object)
	response := review(t, handler, request)

	patch, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		t.Fatalf("%s: %v", response.Patch, err)
	}
	after, err := patch.Apply(request.Object.Raw)
	if err != nil {
		t.Fatal(err)
	}

	for _, part := range []string{`"pool"`, `"custom"`, `"podAntiAffinity"`, `"matchExpressions"`} {
		if !bytes.Contains(after, []byte(part)) {
			t.Errorf("%s lacks %s", after, part)
		}
	}
	if want, got := bytes.Count(request.Object.Raw, []byte(`"future"`)), bytes.Count(after, []byte(`"future"`)); want != got {
		t.Errorf("%d of %d unknown fields survive in %s", got, want, after)
	}
}

// What a policy wants and does not get: docs/spec/pod-scheduling-policy.md 2.1.6 and K41.
func TestSkipsAreReported(t *testing.T) {
	source := cached(t, clusterPolicy(t, "pool", "nodeSelector: {pool: etcd}\nnodeName: n1"),
		policyIn(t, "team-a", "bad", "schedulerName: A_B"), policyIn(t, "team-b", "other", "nodeName: n2"))
	handler, sent := mutating(source)
	conflict := func() *admissionv1.AdmissionRequest {
		return creation(t, deployments, template("{nodeSelector: {pool: web}, nodeName: n0}"))
	}
	const invalid = `the policy is invalid and skipped: spec.schedulerName: Invalid value: "A_B"`
	var response *admissionv1.AdmissionResponse

	if diff := cmp.Diff(map[string]float64{"Conflict": 2, "Invalid": 1},
		counted(t, skips, func() { response = review(t, handler, conflict()) })); diff != "" {
		t.Errorf("%s (-want +got):\n%s", skips, diff)
	}

	for i, want := range []string{
		`ClusterPodSchedulingPolicy pool: nodeName: "n0" is kept, not "n1"`,
		`ClusterPodSchedulingPolicy pool: nodeSelector[pool]: "web" is kept, not "etcd"`,
		"PodSchedulingPolicy team-a/bad: " + invalid,
	} {
		if len(response.Warnings) != 3 || !strings.HasPrefix(response.Warnings[i], want) {
			t.Errorf("warnings %q, want 3 and %q at %d", response.Warnings, want, i)
		}
	}

	for i, want := range []string{
		`ClusterPodSchedulingPolicy /pool: Warning Conflict Deployment team-a/etcd: nodeName: "n0" is kept, not "n1"`,
		`ClusterPodSchedulingPolicy /pool: Warning Conflict Deployment team-a/etcd: nodeSelector[pool]: "web" is kept, not "etcd"`,
		"PodSchedulingPolicy team-a/bad: Warning Invalid Deployment team-a/etcd: " + invalid,
	} {
		if got := sent.sorted(); len(got) != 3 || !strings.HasPrefix(got[i], want) {
			t.Errorf("events %q, want 3 and %q at %d", got, want, i)
		}
	}

	*sent = nil
	dry := review(t, handler, dryRun(conflict()))
	if diff := cmp.Diff(response, dry); diff != "" {
		t.Errorf("K41: response of a dry run (-without +with):\n%s", diff)
	}
	if len(*sent) > 0 {
		t.Errorf("K41: a dry run sends the events %q", *sent)
	}
}

// The DaemonSet controller has replaced the node affinity that the template has (docs/spec/pod-scheduling-policy.md 2.1.4).
func TestPodOfADaemonSetIsCountedOnly(t *testing.T) {
	handler, sent := mutating(cached(t, clusterPolicy(t, "pool", "nodeSelector: {pool: etcd}\ntolerations: [{key: pool, operator: Exists}]")))
	request := creation(t, podKind, "{metadata: {labels: {app: etcd}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, "+
		"controller: true}]}, spec: {}}")
	request.Name = ""

	growth := counted(t, skips, func() {
		response := review(t, handler, request)
		if want := `[{"op":"add","path":"/spec/tolerations","value":[{"key":"pool","operator":"Exists"}]}]`; string(response.Patch) != want {
			t.Errorf("patch %s, want %s", response.Patch, want)
		}
		if len(response.Warnings)+len(*sent) > 0 {
			t.Errorf("warnings %q and events %q, want none", response.Warnings, *sent)
		}
	})

	if diff := cmp.Diff(map[string]float64{"DaemonSetPod": 1}, growth); diff != "" {
		t.Errorf("%s (-want +got):\n%s", skips, diff)
	}
}

func TestReportsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 100)
	spec := strings.Builder{}
	fmt.Fprintf(&spec, "nodeName: n1\nnodeSelector:\n")
	own := []string{}
	for i := range 30 {
		fmt.Fprintf(&spec, "  key-%02d: wanted\n", i)
		own = append(own, fmt.Sprintf("key-%02d: %q", i, "\u0007"+long+long))
	}

	handler, sent := mutating(cached(t, clusterPolicy(t, "many", spec.String())))
	request := func() *admissionv1.AdmissionRequest {
		return creation(t, deployments, template("{nodeName: n0, nodeSelector: {"+strings.Join(own, ", ")+"}}"))
	}
	response := review(t, handler, request())
	if len(response.Warnings) != maxWarnings || !strings.Contains(response.Warnings[maxWarnings-1], "22 more warnings; the Events of the policies") {
		t.Errorf("%d warnings, the last one %q; want %d, and that there are 22 more", len(response.Warnings),
			response.Warnings[len(response.Warnings)-1], maxWarnings)
	}

	for _, warning := range response.Warnings {
		if len(warning) > webhook.MaxWarningBytes || strings.ToValidUTF8(warning, "") != warning || strings.ContainsRune(warning, '\u0007') {
			t.Errorf("a warning of %d bytes: %q", len(warning), warning)
		}
	}
	for range 10 {
		review(t, handler, request())
	}

	if len(*sent) != eventBurst {
		t.Errorf("%d events on one policy with one reason, want %d", len(*sent), eventBurst)
	}
}

// Bodies that no API server sends are refused with the reason, and workloads of the largest size are reviewed.
func TestBodies(t *testing.T) {
	handler, _ := mutating(cached(t, clusterPolicy(t, "pool", "nodeSelector: {pool: etcd}")))
	large := creation(t, deployments, "{metadata: {name: etcd, annotations: {large: "+strings.Repeat("x", 3<<20)+"}}, spec: {template: {metadata: "+
		"{labels: {app: etcd}}, spec: {}}}}")
	large.OldObject, large.Operation = large.Object, admissionv1.Update
	if response := review(t, handler, large); !response.Allowed || len(response.Patch) == 0 {
		t.Errorf("an update of an object of 3 MB: %+v, want a patch", response)
	}
	huge := creation(t, deployments, template("{}"))
	huge.Object.Raw = append(append([]byte(`"`), bytes.Repeat([]byte("x"), 8<<20)...), '"')
	for _, tc := range []struct {
		reason, contentType string
		body                []byte
		code                int32
		message             string
	}{
		{"an empty body", "application/json", nil, http.StatusBadRequest, "no AdmissionReview"},
		{"no JSON", "application/json", []byte("Deployment"), http.StatusBadRequest, "couldn't get version/kind"},
		{"no AdmissionReview", "application/json", []byte(`{"apiVersion":"v1","kind":"Pod"}`), http.StatusBadRequest, "no AdmissionReview"},
		{"an AdmissionReview without a request", "application/json", []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`),
			http.StatusBadRequest, "no AdmissionReview"},
		{"another type", "application/json", []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":"create"}`),
			http.StatusBadRequest, "cannot unmarshal"},
		{"another content type", "text/plain", reviewOf(t, creation(t, deployments, template("{}"))),
			http.StatusBadRequest, "expected application/json"},
		{"a body that no API server would send", "application/json", reviewOf(t, huge), http.StatusRequestEntityTooLarge, "too large"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			response := decoded(t, serve(t, handler, tc.contentType, tc.body))
			if response.Allowed || response.Result.Code != tc.code || !strings.Contains(response.Result.Message, tc.message) {
				t.Errorf("response %+v, want %d with %q", response.Result, tc.code, tc.message)
			}
		})
	}
}

// Whatever the object of a request is, the response is well-formed and allows it (docs/spec/pod-scheduling-policy.md 2.1.6).
func FuzzMutate(f *testing.F) {
	handler, _ := mutating(cached(f, clusterPolicy(f, "pool", "nodeSelector: {pool: etcd}\nnodeName: n1\ntolerations: [{operator: Exists}]")))
	for _, object := range []string{
		template("{}"), template("null"), "null", "[]", "{spec: null}", "{spec: {template: null}}", "{spec: {template: []}}",
	} {
		f.Add("Deployment", toJSON(f, object))
	}

	f.Fuzz(func(t *testing.T, kind string, object []byte) {
		request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			UID: "1", Namespace: "team-a", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: object},
			Kind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: kind},
		}}

		response := handler.Handle(t.Context(), request)
		if !response.Allowed || strings.Contains(response.Result.Message, "panic") {
			t.Errorf("%s: %+v", object, response.Result)
		}
		if len(response.Patch) > 0 && !json.Valid(response.Patch) {
			t.Errorf("%s: patch %s", object, response.Patch)
		}
	})
}
