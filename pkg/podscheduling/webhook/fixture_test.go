// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
)

// clusterPolicy returns a ClusterPodSchedulingPolicy for the Pods with the label app=etcd of all namespaces.
func clusterPolicy(tb testing.TB, name, constraints string) *kupidv1alpha1.ClusterPodSchedulingPolicy {
	tb.Helper()
	policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{}
	policy.Name, policy.UID, policy.ResourceVersion = name, types.UID("uid-of-"+name), "1"
	parse(tb, "namespaceSelector: {}\npodSelector: {matchLabels: {app: etcd}}\n"+constraints, &policy.Spec)
	return policy
}

// policyIn returns a PodSchedulingPolicy for the Pods with the label app=etcd of a namespace.
func policyIn(tb testing.TB, namespace, name, constraints string) *kupidv1alpha1.PodSchedulingPolicy {
	tb.Helper()
	policy := &kupidv1alpha1.PodSchedulingPolicy{}
	policy.Namespace, policy.Name, policy.ResourceVersion = namespace, name, "1"
	parse(tb, "podSelector: {matchLabels: {app: etcd}}\n"+constraints, &policy.Spec)
	return policy
}

func parse(tb testing.TB, document string, into any) {
	tb.Helper()
	if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
		tb.Fatalf("%s: %v", document, err)
	}
}

func toJSON(tb testing.TB, document string) []byte {
	tb.Helper()
	raw, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		tb.Fatalf("%s: %v", document, err)
	}
	return raw
}

// errUnreachable is the error of every read from the API server of broken.
var errUnreachable = errors.New("the API server is unreachable")

// hub returns a client that reads objects, and policies and namespaces among them.
func hub(tb testing.TB, objects ...client.Object) client.WithWatch {
	tb.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), kupidv1alpha1.Install(scheme)); err != nil {
		tb.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

// broken returns a client whose reads all fail.
func broken(tb testing.TB) client.Reader {
	tb.Helper()
	return interceptor.NewClient(hub(tb), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errUnreachable
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errUnreachable
		},
	})
}

// namespace returns the namespace team-a.
func namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}
}

// cached returns a Source whose cache has the namespace team-a and policies, and whose API server is unreachable.
func cached(tb testing.TB, policies ...client.Object) *Source {
	tb.Helper()
	s := newSource(broken(tb))
	for _, policy := range append(policies, namespace()) {
		s.OnAdd(policy, true)
	}
	return s
}

// unsynced returns a Source whose cache does not sync in time.
func unsynced(api client.Reader) *Source {
	s := newSource(api)
	s.synced = []toolscache.InformerSynced{func() bool { return false }}
	s.firstReview.Do(func() {})
	return s
}

// sentEvents keeps the events that it is sent: "regarding: type reason note".
type sentEvents []string

func (e *sentEvents) Eventf(regarding, _ runtime.Object, eventtype, reason, _, note string, args ...any) {
	about, is := regarding.(*corev1.ObjectReference)
	if !is {
		panic(fmt.Sprintf("an event about a %T", regarding))
	}
	*e = append(*e, fmt.Sprintf("%s %s/%s: %s %s %s", about.Kind, about.Namespace, about.Name, eventtype, reason, fmt.Sprintf(note, args...)))
}

var (
	deployments  = metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	statefulSets = metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
	jobs         = metav1.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	podKind      = metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

// creation returns the request that creates etcd in the namespace team-a.
func creation(tb testing.TB, kind metav1.GroupVersionKind, object string) *admissionv1.AdmissionRequest {
	tb.Helper()
	return &admissionv1.AdmissionRequest{
		UID: "1", Kind: kind, Namespace: "team-a", Name: "etcd", Operation: admissionv1.Create,
		Object: runtime.RawExtension{Raw: toJSON(tb, object)},
	}
}

// template returns an object whose pod template has the label app=etcd and a pod spec.
func template(spec string) string {
	return "{metadata: {name: etcd}, spec: {template: {metadata: {labels: {app: etcd}}, spec: " + spec + "}}}"
}

// serve returns the HTTP response of a handler to a body.
func serve(tb testing.TB, handler admission.Handler, contentType string, body []byte) *httptest.ResponseRecorder {
	tb.Helper()
	hook, err := admission.StandaloneWebhook(&admission.Webhook{Handler: handler}, admission.StandaloneOptions{Logger: klog.Background()})
	if err != nil {
		tb.Fatal(err)
	}
	request := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/", bytes.NewReader(body))
	request.Header.Set("Content-Type", contentType)
	recorder := httptest.NewRecorder()
	hook.ServeHTTP(recorder, request)
	return recorder
}

// review returns the response of a handler to a request, by the way of HTTP.
func review(tb testing.TB, handler admission.Handler, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	tb.Helper()
	return decoded(tb, serve(tb, handler, "application/json", reviewOf(tb, request)))
}

func reviewOf(tb testing.TB, request *admissionv1.AdmissionRequest) []byte {
	tb.Helper()
	body, err := json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func decoded(tb testing.TB, recorder *httptest.ResponseRecorder) *admissionv1.AdmissionResponse {
	tb.Helper()
	answer := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(recorder.Body.Bytes(), answer); err != nil || answer.Response == nil {
		tb.Fatalf("%d: %v: %s", recorder.Code, err, recorder.Body)
	}
	return answer.Response
}

// counts returns the values of a metric by its only label.
func counts(tb testing.TB, name string) map[string]float64 {
	tb.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	values := map[string]float64{}

	for _, family := range families {
		if family.GetName() == name {
			for _, metric := range family.GetMetric() {
				values[metric.GetLabel()[0].GetValue()] = metric.GetCounter().GetValue()
			}
		}
	}
	return values
}

// counted returns by how much the values of a metric grow while a function runs; values that stay are left out.
func counted(tb testing.TB, name string, run func()) map[string]float64 {
	tb.Helper()
	before := counts(tb, name)
	run()
	growth := map[string]float64{}
	for label, value := range counts(tb, name) {
		if value != before[label] {
			growth[label] = value - before[label]
		}
	}
	return growth
}

// allowedWithoutPatch reports a response that is not allowed, or has a patch.
func allowedWithoutPatch(tb testing.TB, response *admissionv1.AdmissionResponse) {
	tb.Helper()
	if !response.Allowed || len(response.Patch) > 0 || response.PatchType != nil {
		tb.Errorf("allowed %t with the patch %s, want it allowed without one: %+v", response.Allowed, response.Patch, response.Result)
	}
}

// dryRun returns a request as a dry run.
func dryRun(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionRequest {
	request.DryRun = ptr.To(true)
	return request
}

// sorted returns sent events in their order by text.
func (e *sentEvents) sorted() []string { return slices.Sorted(slices.Values(*e)) }
