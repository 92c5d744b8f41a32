// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("What policies inject", Ordered, func() {
	BeforeAll(func(ctx SpecContext) { serve(ctx) })

	It("K1, K2: goes into the template of a StatefulSet whose Pods match, by the labels of the template alone", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd}")
		Expect(podSpec(etcd(ctx, f, "StatefulSet", ""))).To(HaveKeyWithValue("nodeSelector", map[string]any{"pool": "etcd"}))
		other := workload(f, "StatefulSet", "web", "web", "")
		other.SetLabels(map[string]string{"app": "etcd"})
		Expect(tried(ctx, other)).NotTo(HaveKey("nodeSelector"))
	})

	It("K3, K4: is nothing where a selector of a cluster policy is absent", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "without-pods", "namespaceSelector: {}, nodeSelector: {pool: etcd}")
		create(ctx, f, "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: ClusterPodSchedulingPolicy\nmetadata: {name: "+f.Name("without-namespaces")+
			"}\nspec: {podSelector: {}, nodeSelector: {pool: etcd}}")
		awaitPolicies(ctx, f)
		Expect(tried(ctx, workload(f, "Pod", "etcd", "etcd", ""))).NotTo(HaveKey("nodeSelector"))
	})

	It("K5: stays in the namespace of a PodSchedulingPolicy", func(ctx SpecContext) {
		a, b := newFixture(ctx), newFixture(ctx)
		policy(ctx, a, "p", "nodeSelector: {pool: etcd}")
		Expect(tried(ctx, workload(a, "Pod", "etcd", "etcd", ""))).To(HaveKeyWithValue("nodeSelector", map[string]any{"pool": "etcd"}))
		Expect(tried(ctx, workload(b, "Pod", "etcd", "etcd", ""))).NotTo(HaveKey("nodeSelector"))
	})

	It("K6, K7, K10: leaves the workload's own values", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd, disk: ssd}, nodeName: n2, schedulerName: custom")
		spec := tried(ctx, workload(f, "Deployment", "etcd", "etcd", "nodeSelector: {pool: web}, nodeName: n1, schedulerName: mine"))
		Expect(spec).To(And(HaveKeyWithValue("nodeSelector", map[string]any{"pool": "web", "disk": "ssd"}),
			HaveKeyWithValue("nodeName", "n1"), HaveKeyWithValue("schedulerName", "mine")))
	})

	It("K8: names the node of a Pod, unless it has schedulingGates", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", "nodeName: n2")
		Expect(tried(ctx, workload(f, "Pod", "etcd", "etcd", ""))).To(HaveKeyWithValue("nodeName", "n2"))
		Expect(tried(ctx, workload(f, "Pod", "etcd", "etcd", "schedulingGates: [{name: example.com/g}]"))).NotTo(HaveKey("nodeName"))
	})

	It("K9: is the scheduler of a Pod that names none", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", "schedulerName: custom")
		Expect(tried(ctx, workload(f, "Pod", "etcd", "etcd", ""))).To(HaveKeyWithValue("schedulerName", "custom"))
	})

	It("K11: adds a toleration once, and keeps those of the API server", func(ctx SpecContext) {
		f := newFixture(ctx)
		const own, added = "{key: k, operator: Equal, value: v, effect: NoSchedule}", "{key: k, operator: Equal, value: v, effect: NoExecute}"
		clusterPolicy(ctx, f, "p", "tolerations: ["+own+", "+added+"]")
		pod := workload(f, "Pod", "etcd", "etcd", "tolerations: ["+own+"]")
		Expect(tried(ctx, pod)["tolerations"]).To(ConsistOf(
			map[string]any{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"},
			map[string]any{"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute"},
			HaveKeyWithValue("key", corev1.TaintNodeNotReady), HaveKeyWithValue("key", corev1.TaintNodeUnreachable),
		))
	})

	It("K12, K13: multiplies required terms once, however often the Deployment is updated", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", required("pool", "a", "b"))
		deployment := etcd(ctx, f, "Deployment", required("arch", "arm64"))
		terms := requiredTerms(podSpec(deployment))
		Expect(terms).To(HaveLen(2))
		Expect(terms).To(HaveEach(HaveKeyWithValue("matchExpressions", HaveLen(2))))

		for _, value := range []string{"1", "2", "3", "4", "5"} {
			updated := label(ctx, f, deployment, value)
			Expect(requiredTerms(podSpec(updated))).To(Equal(terms))
			Expect(updated.GetGeneration()).To(Equal(int64(1)), "the template is the same, so no ReplicaSet is made")
		}
		onlyPod(ctx, f, func(pod *corev1.Pod) bool {
			return len(pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms) == 2
		})

		replicaSets := &unstructured.UnstructuredList{}
		replicaSets.SetAPIVersion("apps/v1")
		replicaSets.SetKind("ReplicaSetList")
		Expect(suite.Client.List(ctx, replicaSets, client.InNamespace(f.Namespace))).To(Succeed())
		Expect(replicaSets.Items).To(HaveLen(1))
	})

	It("K14: is added to each of the workload's required terms", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", required("pool", "a"))
		Expect(requiredTerms(tried(ctx, workload(f, "Deployment", "etcd", "etcd", required("arch", "amd64", "arm64"))))).To(Equal([]any{
			map[string]any{"matchExpressions": []any{in("pool", "a"), in("arch", "amd64")}},
			map[string]any{"matchExpressions": []any{in("pool", "a"), in("arch", "arm64")}},
		}))
	})

	It("K15: leaves a workload that matches no node", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", required("pool", "a"))
		const nothing = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}"
		Expect(requiredTerms(tried(ctx, workload(f, "Pod", "etcd", "etcd", nothing)))).To(Equal([]any{map[string]any{}}))
	})

	It("K16: has a preferred term once, unless the weights differ", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", preferred("1", "2"))
		spec := tried(ctx, workload(f, "Pod", "etcd", "etcd", preferred("1")))
		terms, _, err := unstructured.NestedSlice(spec, "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
		Expect(err).NotTo(HaveOccurred())
		Expect(terms).To(HaveExactElements(HaveKeyWithValue("weight", BeEquivalentTo(1)), HaveKeyWithValue("weight", BeEquivalentTo(2))))
	})

	It("K17: copies an anti-affinity that the workload does not have", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "+
			"[{topologyKey: zone, labelSelector: {matchLabels: {app: etcd}}}]}}")
		Expect(tried(ctx, workload(f, "StatefulSet", "etcd", "etcd", ""))["affinity"]).To(Equal(map[string]any{
			"podAntiAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": []any{map[string]any{
				"topologyKey": "zone", "labelSelector": map[string]any{"matchLabels": map[string]any{"app": "etcd"}},
			}}},
		}))
	})

	It("K19: has the tolerations of several policies in the order of their names", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "b", "tolerations: [{key: second, operator: Exists}]")
		clusterPolicy(ctx, f, "a", "tolerations: [{key: first, operator: Exists}]")
		Expect(tried(ctx, workload(f, "Deployment", "etcd", "etcd", ""))["tolerations"]).To(Equal([]any{
			map[string]any{"key": "first", "operator": "Exists"}, map[string]any{"key": "second", "operator": "Exists"},
		}))
	})

	It("K18: is that of the first policy by name, cluster policies first", func(ctx SpecContext) {
		f := newFixture(ctx)
		policy(ctx, f, "0", "nodeSelector: {x: '3'}")
		clusterPolicy(ctx, f, "b", "nodeSelector: {x: '1'}")
		clusterPolicy(ctx, f, "a", "nodeSelector: {x: '2'}")
		for i := range 100 {
			pod := workload(f, "Pod", "etcd", "etcd", fmt.Sprintf("hostname: h%d", i))
			Expect(tried(ctx, pod)).To(HaveKeyWithValue("nodeSelector", map[string]any{"x": "2"}))
		}
	})

	It("K24: changes no other field of the workload, whatever the hub's own types have", func(ctx SpecContext) {
		f, without := newFixture(ctx), newFixture(ctx)
		clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd}, tolerations: [{key: k, operator: Exists}], "+required("pool", "etcd"))
		const fields = "hostname: h, priority: 0, dnsConfig: {options: [{name: ndots, value: '2'}]}, overhead: {}, " +
			"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor}], " +
			"resources: {limits: {cpu: '1'}}, initContainers: [{name: side, image: i, restartPolicy: Always, " +
			"resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]}]"
		mutated := tried(ctx, workload(f, "Deployment", "etcd", "etcd", fields))
		plain := tried(ctx, workload(without, "Deployment", "etcd", "etcd", fields))
		Expect(mutated).To(And(HaveKey("nodeSelector"), HaveKey("tolerations"), HaveKey("affinity")))

		for _, field := range []string{"nodeSelector", "tolerations", "affinity"} {
			delete(mutated, field)
		}
		Expect(mutated).To(Equal(plain))
		Expect(plain).To(And(HaveKey("topologySpreadConstraints"), HaveKey("initContainers")))
		if minorVersion() >= 34 { // An older API server drops the resources of a Pod.
			Expect(plain).To(HaveKey("resources"))
		}
	})

	It("K26: is nothing in kube-system, nor in the namespace of the hub", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", "namespaceSelector: {}, podSelector: {matchLabels: {app: etcd}}, nodeSelector: {pool: etcd}")
		for namespace, matcher := range map[string]OmegaMatcher{
			"kube-system": Not(HaveKey("nodeSelector")), manifests.Namespace: Not(HaveKey("nodeSelector")), "default": HaveKey("nodeSelector"),
		} {
			deployment := workload(f, "Deployment", "etcd", "etcd", "")
			deployment.SetNamespace(namespace)
			Expect(tried(ctx, deployment)).To(matcher, namespace)
		}
	})

	It("K30, K34: is no patch where a policy has nothing to add, and without policies for any kind", func(ctx SpecContext) {
		f, without := newFixture(ctx), newFixture(ctx)
		clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd}")
		etcd(ctx, f, "Deployment", "nodeSelector: {pool: etcd}")
		Eventually(func(g Gomega) { g.Expect(reviews(g, f, "create", "deployments")).To(Equal([]bool{false})) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		for kind, resource := range map[string]string{
			"Pod": "pods", "ReplicationController": "replicationcontrollers", "ReplicaSet": "replicasets", "Deployment": "deployments",
			"StatefulSet": "statefulsets", "DaemonSet": "daemonsets", "Job": "jobs", "CronJob": "cronjobs",
		} {
			object := workload(without, kind, "etcd", "etcd-"+resource, "")
			without.Create(ctx, object)
			Eventually(func(g Gomega) {
				g.Expect(reviews(g, without, "create", resource)).To(And(Not(BeEmpty()), HaveEach(false)), kind)
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}
	})

	It("K32: goes where both the namespace and the Pod match", func(ctx SpecContext) {
		in := func(team string) *suite.Fixture {
			return newFixture(ctx, func(namespace *corev1.Namespace) { namespace.Labels = map[string]string{"team": team} })
		}
		a, b := in("a"), in("b")
		for name, selectors := range map[string][2]string{
			"labels": {"matchLabels: {team: a, fixture: " + a.Namespace + "}", "matchLabels: {app: etcd}"},
			"in": {"matchExpressions: [{key: team, operator: In, values: [a, c]}]",
				"matchExpressions: [{key: app, operator: In, values: [etcd, other]}]"},
			"not-in": {"matchExpressions: [{key: team, operator: NotIn, values: [b]}, {key: team, operator: Exists}]",
				"matchExpressions: [{key: app, operator: NotIn, values: [web]}, {key: app, operator: Exists}]"},
		} {
			clusterPolicy(ctx, a, name, "namespaceSelector: {"+selectors[0]+"}, podSelector: {"+selectors[1]+"}, nodeSelector: {"+name+": matched}")
		}

		all := map[string]any{"labels": "matched", "in": "matched", "not-in": "matched"}
		Expect(tried(ctx, workload(a, "Pod", "p", "etcd", ""))).To(HaveKeyWithValue("nodeSelector", all), "both match")
		Expect(tried(ctx, workload(a, "Pod", "p", "web", ""))).NotTo(HaveKey("nodeSelector"), "only the namespace")
		Expect(tried(ctx, workload(b, "Pod", "p", "etcd", ""))).NotTo(HaveKey("nodeSelector"), "only the Pod")
		Expect(tried(ctx, workload(b, "Pod", "p", "web", ""))).NotTo(HaveKey("nodeSelector"), "neither")
	})
})

// minorVersion returns the minor version of Kubernetes that the API server has.
func minorVersion() int {
	GinkgoHelper()
	api, err := discovery.NewDiscoveryClientForConfig(suite.ControlPlane.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	version, err := api.ServerVersion()
	Expect(err).NotTo(HaveOccurred())
	minor, err := strconv.Atoi(version.Minor)
	Expect(err).NotTo(HaveOccurred())
	return minor
}
