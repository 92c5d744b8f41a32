// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// newFixture creates a namespace in which Pods can be created, as changed by the edits, and deletes it with the cluster policies of the
// fixture after the spec.
func newFixture(ctx context.Context, edits ...func(*corev1.Namespace)) *suite.Fixture {
	GinkgoHelper()
	f := suite.NewFixture(ctx, edits...)
	DeferCleanup(suite.Client.DeleteAllOf, &kupidv1alpha1.ClusterPodSchedulingPolicy{}, client.MatchingLabels{suite.FixtureLabel: f.Namespace})
	expectAccount(ctx, f.Namespace)
	return f
}

// expectAccount waits for the ServiceAccount without which no Pod is created in a namespace.
func expectAccount(ctx context.Context, namespace string) {
	GinkgoHelper()
	Eventually(suite.Client.Get).WithContext(ctx).WithArguments(client.ObjectKey{Namespace: namespace, Name: "default"}, &corev1.ServiceAccount{}).
		WithTimeout(suite.Timeout).Should(Succeed())
}

// decode returns the object in a YAML document, in the namespace of the fixture if it has none and its kind is namespaced.
func decode(f *suite.Fixture, document string) *unstructured.Unstructured {
	GinkgoHelper()
	objects, err := manifests.Decode(strings.NewReader(document), "object")
	Expect(err).NotTo(HaveOccurred(), document)
	Expect(objects).To(HaveLen(1), document)
	if object := objects[0]; object.GetNamespace() == "" && object.GetKind() != "ClusterPodSchedulingPolicy" {
		object.SetNamespace(f.Namespace)
	}
	return objects[0]
}

// create creates the object in a YAML document.
func create(ctx context.Context, f *suite.Fixture, document string) *unstructured.Unstructured {
	GinkgoHelper()
	object := decode(f, document)
	f.Create(ctx, object)
	return object
}

// clusterPolicy creates a ClusterPodSchedulingPolicy for the Pods with the label app=etcd in the namespaces of the fixture, and waits until
// reviews know it. constraints are in YAML; the selectors in them replace those.
func clusterPolicy(ctx context.Context, f *suite.Fixture, short, constraints string) *unstructured.Unstructured {
	GinkgoHelper()
	if !strings.Contains(constraints, "namespaceSelector") {
		constraints = "namespaceSelector: {matchLabels: {fixture: " + f.Namespace + "}}, podSelector: {matchLabels: {app: etcd}}, " + constraints
	}
	policy := create(ctx, f, "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: ClusterPodSchedulingPolicy\nmetadata: {name: "+f.Name(short)+
		"}\nspec: {"+constraints+"}")
	awaitPolicies(ctx, f)
	return policy
}

// policy creates a PodSchedulingPolicy for the Pods with the label app=etcd, and waits until reviews know it.
func policy(ctx context.Context, f *suite.Fixture, name, constraints string) {
	GinkgoHelper()
	create(ctx, f, "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: PodSchedulingPolicy\nmetadata: {name: '"+name+
		"'}\nspec: {podSelector: {matchLabels: {app: etcd}}, "+constraints+"}")
	awaitPolicies(ctx, f)
}

// probes numbers the policies of awaitPolicies.
var probes atomic.Int64

// awaitPolicies waits until reviews know all policies that were written before. It writes one more policy of each kind, which the watches
// deliver after them, waits until both are injected, and deletes them.
func awaitPolicies(ctx context.Context, f *suite.Fixture) {
	GinkgoHelper()
	probe := fmt.Sprintf("probe-%d", probes.Add(1))
	spec := kupidv1alpha1.PodSchedulingPolicySpec{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"probe": probe}}}
	cluster := &kupidv1alpha1.ClusterPodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Name: probe}}
	cluster.Spec.NamespaceSelector, cluster.Spec.PodSchedulingPolicySpec = &metav1.LabelSelector{}, spec
	cluster.Spec.NodeSelector = map[string]string{"cluster": probe}
	namespaced := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: probe}, Spec: spec}
	namespaced.Spec.NodeSelector = map[string]string{"namespaced": probe}
	for _, policy := range []client.Object{cluster, namespaced} {
		Expect(suite.Client.Create(ctx, policy)).To(Succeed())
	}

	Eventually(func(g Gomega) {
		pod := decode(f, "apiVersion: v1\nkind: Pod\nmetadata: {name: probe, labels: {probe: "+probe+"}}\nspec: {containers: [{name: c, image: i}]}")
		g.Expect(client.NewDryRunClient(suite.Client).Create(ctx, pod)).To(Succeed())
		g.Expect(podSpec(pod)).To(HaveKeyWithValue("nodeSelector", And(HaveKeyWithValue("cluster", probe), HaveKeyWithValue("namespaced", probe))))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	for _, policy := range []client.Object{cluster, namespaced} {
		Expect(suite.Client.Delete(ctx, policy)).To(Succeed())
	}
}

// kinds are those that policies are injected into, with what their objects have beside the pod template.
var kinds = map[string]struct{ apiVersion, spec string }{
	"ReplicationController": {"v1", "replicas: 1, selector: {app: APP}, template: TEMPLATE"},
	"ReplicaSet":            {"apps/v1", "replicas: 1, selector: {matchLabels: {app: APP}}, template: TEMPLATE"},
	"Deployment":            {"apps/v1", "replicas: 1, selector: {matchLabels: {app: APP}}, template: TEMPLATE"},
	"StatefulSet":           {"apps/v1", "replicas: 1, serviceName: s, selector: {matchLabels: {app: APP}}, template: TEMPLATE"},
	"DaemonSet":             {"apps/v1", "selector: {matchLabels: {app: APP}}, template: TEMPLATE"},
	"Job":                   {"batch/v1", "template: TEMPLATE"},
	"CronJob":               {"batch/v1", "schedule: '0 0 1 1 *', jobTemplate: {spec: {template: TEMPLATE}}"},
}

// workload returns an object of a kind whose Pods have a label app, and fields of the pod spec in YAML.
func workload(f *suite.Fixture, kind, name, app, fields string) *unstructured.Unstructured {
	GinkgoHelper()
	if !strings.Contains(fields, "restartPolicy") && strings.HasSuffix(kind, "Job") {
		fields = strings.TrimPrefix(fields+", restartPolicy: Never", ", ")
	}
	template := "metadata: {labels: {app: " + app + "}}, spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: i}]"
	if fields != "" {
		template += ", " + fields
	}

	template += "}"
	if kind == "Pod" {
		return decode(f, "{apiVersion: v1, kind: Pod, "+strings.Replace(template, "metadata: {", "metadata: {name: "+name+", ", 1)+"}")
	}
	known, is := kinds[kind]
	Expect(is).To(BeTrue(), kind)
	spec := strings.NewReplacer("APP", app, "TEMPLATE", "{"+template+"}").Replace(known.spec)
	return decode(f, "{apiVersion: "+known.apiVersion+", kind: "+kind+", metadata: {name: "+name+"}, spec: {"+spec+"}}")
}

// etcd creates a workload whose Pods have the label app=etcd, and returns what the API server stores.
func etcd(ctx context.Context, f *suite.Fixture, kind, fields string) *unstructured.Unstructured {
	GinkgoHelper()
	object := workload(f, kind, "etcd", "etcd", fields)
	f.Create(ctx, object)
	return object
}

// tried returns what would be stored of a workload.
func tried(ctx context.Context, object *unstructured.Unstructured) map[string]any {
	GinkgoHelper()
	Expect(client.NewDryRunClient(suite.Client).Create(ctx, object)).To(Succeed())
	return podSpec(object)
}

// podSpec returns the pod spec of an object, or of its template.
func podSpec(object *unstructured.Unstructured) map[string]any {
	GinkgoHelper()
	path := []string{"spec", "template", "spec"}
	switch object.GetKind() {
	case "Pod":
		path = []string{"spec"}
	case "CronJob":
		path = []string{"spec", "jobTemplate", "spec", "template", "spec"}
	}

	spec, found, err := unstructured.NestedMap(object.Object, path...)
	Expect(err).NotTo(HaveOccurred())
	Expect(found).To(BeTrue(), "%s has no pod spec", object.GetKind())
	return spec
}

// requiredTerms returns the required terms of the node affinity in a pod spec.
func requiredTerms(spec map[string]any) []any {
	GinkgoHelper()
	terms, _, err := unstructured.NestedSlice(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	Expect(err).NotTo(HaveOccurred())
	return terms
}

// required returns a node affinity with a required term for each list of values of a label.
func required(key string, values ...string) string {
	terms := []string{}
	for _, value := range values {
		terms = append(terms, "{matchExpressions: [{key: "+key+", operator: In, values: ["+value+"]}]}")
	}
	return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + strings.Join(terms, ", ") + "]}}}"
}

// in returns a match expression for one value of a label.
func in(key, value string) map[string]any {
	return map[string]any{"key": key, "operator": "In", "values": []any{value}}
}

// preferred returns a node affinity with the same preferred term with each weight.
func preferred(weights ...string) string {
	terms := []string{}
	for _, weight := range weights {
		terms = append(terms, "{weight: "+weight+", preference: {matchExpressions: [{key: pool, operator: In, values: [a]}]}}")
	}
	return "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [" + strings.Join(terms, ", ") + "]}}"
}

// read returns an object as it is stored now.
func read(ctx context.Context, g Gomega, object *unstructured.Unstructured) *unstructured.Unstructured {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(object.GroupVersionKind())
	g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), found)).To(Succeed())
	return found
}

// label has kubectl set a label of an object, and returns the object as it is stored then.
func label(ctx context.Context, f *suite.Fixture, object *unstructured.Unstructured, value string) *unstructured.Unstructured {
	GinkgoHelper()
	suite.Kubectl(ctx, f.Namespace)("label", "--overwrite", strings.ToLower(object.GetKind())+"/"+object.GetName(), "touched="+value)
	return read(ctx, Default, object)
}

// onlyPod waits until exactly one Pod of the namespace meets a condition, and returns it.
func onlyPod(ctx context.Context, f *suite.Fixture, meets func(*corev1.Pod) bool) corev1.Pod {
	GinkgoHelper()
	var found []corev1.Pod
	Eventually(func(g Gomega) {
		pods := &corev1.PodList{}
		g.Expect(suite.Client.List(ctx, pods, client.InNamespace(f.Namespace))).To(Succeed())
		found = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !meets(&pod) })
		g.Expect(found).To(HaveLen(1))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	return found[0]
}

// selects returns a condition of Pods: their nodeSelector has these labels.
func selects(labels map[string]string) func(*corev1.Pod) bool {
	return func(pod *corev1.Pod) bool { return maps.Equal(pod.Spec.NodeSelector, labels) }
}

// heard keeps the warnings of an API server.
type heard struct {
	mu       sync.Mutex
	warnings []string
}

// HandleWarningHeader keeps a warning.
func (h *heard) HandleWarningHeader(_ int, _, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.warnings = append(h.warnings, text)
}

// listening returns a client with all rights, and where it keeps the warnings of the API server.
func listening() (client.Client, *heard) {
	GinkgoHelper()
	warnings := &heard{}
	config := rest.CopyConfig(suite.ControlPlane.AdminConfig())
	config.WarningHandler = warnings
	c, err := client.New(config, client.Options{})
	Expect(err).NotTo(HaveOccurred())
	return c, warnings
}

// all returns the warnings that were heard.
func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.warnings)
}

// reviews returns for each review of etcd or of what a controller makes of it, by verb and resource, whether the webhook changed the object.
// The audit log has that.
func reviews(g Gomega, f *suite.Fixture, verb, resource string) []bool {
	events, err := suite.ControlPlane.Writes(func(event *auditv1.Event) bool {
		return event.Verb == verb && event.ObjectRef.Resource == resource && event.ObjectRef.Namespace == f.Namespace &&
			strings.HasPrefix(event.ObjectRef.Name, "etcd") && event.ObjectRef.Subresource == ""
	})
	g.Expect(err).NotTo(HaveOccurred())
	found := []bool{}

	for _, event := range events {
		for key, value := range event.Annotations {
			if strings.HasPrefix(key, "mutation.webhook.admission.k8s.io/") && strings.Contains(value, `"mutate.kupid.gardener.cloud"`) {
				found = append(found, strings.Contains(value, `"mutated":true`))
			}
		}
	}
	return found
}
