// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// settled waits until the Deployment controller has written to a new Deployment all that it writes: the policy of a spec is to be injected
// by the spec's own update.
func settled(ctx context.Context, deployment *unstructured.Unstructured) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(read(ctx, g, deployment).GetAnnotations()).To(HaveKeyWithValue("deployment.kubernetes.io/revision", "1"))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

var etcdTaint = corev1.Taint{Key: "dedicated", Value: "etcd", Effect: corev1.TaintEffectNoSchedule}

// inPool is the nodeSelector that the policies inject.
var inPool = map[string]any{"pool": "etcd"}

const (
	pool         = "nodeSelector: {pool: etcd}, tolerations: [{key: dedicated, operator: Equal, value: etcd, effect: NoSchedule}]"
	poolAffinity = "tolerations: [{key: dedicated, operator: Equal, value: etcd, effect: NoSchedule}], "
)

var _ = Describe("Policies and the life of workloads", Ordered, func() {
	BeforeAll(func(ctx SpecContext) { serve(ctx) })

	It("K20: a Job that is older than the policy is updated unchanged", func(ctx SpecContext) {
		f := newFixture(ctx)
		job := etcd(ctx, f, "Job", "")
		clusterPolicy(ctx, f, "p", pool)
		Expect(podSpec(label(ctx, f, job, "1"))).To(Equal(podSpec(job)))
	})

	It("K21: the Pod of a Job is bound to the tainted Node of the pool", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.Node(ctx, "plain", nil)
		node := f.Node(ctx, "pool", map[string]string{"pool": "etcd"}, etcdTaint)
		clusterPolicy(ctx, f, "p", pool)
		Expect(podSpec(etcd(ctx, f, "Job", ""))).To(HaveKeyWithValue("nodeSelector", inPool))
		bound := onlyPod(ctx, f, func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" })
		Expect(bound.Spec.NodeName).To(Equal(node.Name))
		Expect(bound.Spec.NodeSelector).To(Equal(map[string]string{"pool": "etcd"}))
	})

	It("K22: the Jobs of a CronJob have what was injected into its template, and no more", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", pool+", "+required("zone", "a", "b"))
		cronJob := etcd(ctx, f, "CronJob", required("arch", "arm64"))
		injected := podSpec(cronJob)
		Expect(injected).To(HaveKeyWithValue("nodeSelector", inPool))
		Expect(requiredTerms(injected)).To(HaveLen(2))

		// A run is due at once if the last one was long ago.
		before := cronJob.DeepCopy()
		lastRun := time.Now().AddDate(-1, 0, 0).UTC().Format(time.RFC3339)
		Expect(unstructured.SetNestedField(cronJob.Object, lastRun, "status", "lastScheduleTime")).To(Succeed())
		Expect(suite.Client.Status().Patch(ctx, cronJob, client.MergeFrom(before))).To(Succeed())

		jobs := &unstructured.UnstructuredList{}
		jobs.SetAPIVersion("batch/v1")
		jobs.SetKind("JobList")
		Eventually(func(g Gomega) {
			g.Expect(suite.Client.List(ctx, jobs, client.InNamespace(f.Namespace))).To(Succeed())
			g.Expect(jobs.Items).To(HaveLen(1))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		spawned := podSpec(&jobs.Items[0])
		for _, field := range []string{"nodeSelector", "tolerations", "affinity"} {
			Expect(spawned[field]).To(Equal(injected[field]))
		}
		Eventually(func(g Gomega) { g.Expect(reviews(g, f, "create", "jobs")).To(Equal([]bool{false})) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("K25: a DaemonSet has one Pod, on the Node of the pool, and none that is pending", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.Node(ctx, "plain-1", nil)
		f.Node(ctx, "plain-2", nil)
		node := f.Node(ctx, "pool", map[string]string{"pool": "etcd"}, etcdTaint)
		clusterPolicy(ctx, f, "p", poolAffinity+required("pool", "etcd"))
		daemonSet := etcd(ctx, f, "DaemonSet", "")
		Expect(requiredTerms(podSpec(daemonSet))).To(HaveLen(1))

		bound := onlyPod(ctx, f, func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" })
		Expect(bound.Spec.NodeName).To(Equal(node.Name))
		chosen := bound.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		Expect(chosen).To(Equal([]corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{
				Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node.Name},
			}},
		}}))

		Eventually(func(g Gomega) {
			status := read(ctx, g, daemonSet).Object["status"]
			g.Expect(status).To(And(HaveKeyWithValue("desiredNumberScheduled", int64(1)), HaveKeyWithValue("currentNumberScheduled", int64(1))))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		onlyPod(ctx, f, func(*corev1.Pod) bool { return true })
	})

	It("K33: a Deployment that is older than the policy gets it at its next update, in one rollout", func(ctx SpecContext) {
		f := newFixture(ctx)
		deployment := etcd(ctx, f, "Deployment", "")
		onlyPod(ctx, f, selects(nil))
		settled(ctx, deployment)
		clusterPolicy(ctx, f, "p", pool)
		updated := label(ctx, f, deployment, "1")
		Expect(podSpec(updated)).To(HaveKeyWithValue("nodeSelector", inPool))
		Expect(updated.GetGeneration()).To(Equal(int64(2)))
		onlyPod(ctx, f, selects(map[string]string{"pool": "etcd"}))

		Expect(label(ctx, f, deployment, "2").GetGeneration()).To(Equal(int64(2)))
		Eventually(func(g Gomega) {
			g.Expect(reviews(g, f, "patch", "deployments")).To(Equal([]bool{true, false}))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("K35: a Deployment that is being deleted loses its finalizer, without a patch", func(ctx SpecContext) {
		f := newFixture(ctx)
		deployment := workload(f, "Deployment", "etcd", "etcd", "")
		deployment.SetFinalizers([]string{"example.com/f"})
		f.Create(ctx, deployment)
		settled(ctx, deployment)
		clusterPolicy(ctx, f, "p", pool)
		Expect(suite.Client.Delete(ctx, deployment)).To(Succeed())
		// kube-apiserver patches the object of its watch cache first. If that one is older than the deletion, the write conflicts and is tried again,
		// and the audit log keeps the annotation of the first try.
		cached := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: "0"}}
		Eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment, cached)).To(Succeed())
			g.Expect(deployment.GetDeletionTimestamp()).NotTo(BeNil())
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		suite.DropFinalizers(ctx, deployment)
		suite.ExpectGone(ctx, deployment)
		Eventually(func(g Gomega) {
			g.Expect(append(reviews(g, f, "patch", "deployments"), reviews(g, f, "update", "deployments")...)).
				To(And(Not(BeEmpty()), HaveEach(false)))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("K39: what was injected stays when the policy changes and goes", func(ctx SpecContext) {
		f := newFixture(ctx)
		injecting := clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd}")
		deployment := etcd(ctx, f, "Deployment", "")
		Expect(podSpec(deployment)).To(HaveKeyWithValue("nodeSelector", inPool))
		before := injecting.DeepCopy()
		Expect(unstructured.SetNestedField(injecting.Object, "db", "spec", "nodeSelector", "pool")).To(Succeed())
		Expect(suite.Client.Patch(ctx, injecting, client.MergeFrom(before))).To(Succeed())
		awaitPolicies(ctx, f)
		Expect(podSpec(label(ctx, f, deployment, "1"))).To(HaveKeyWithValue("nodeSelector", inPool))

		Expect(suite.Client.Delete(ctx, injecting)).To(Succeed())
		awaitPolicies(ctx, f)
		Expect(podSpec(label(ctx, f, deployment, "2"))).To(HaveKeyWithValue("nodeSelector", inPool))
	})

	It("K40: the ReplicaSet of a Deployment keeps its template, and a standalone one is mutated", func(ctx SpecContext) {
		f := newFixture(ctx)
		settled(ctx, etcd(ctx, f, "Deployment", ""))
		onlyPod(ctx, f, selects(nil))
		owned := &unstructured.UnstructuredList{}
		owned.SetAPIVersion("apps/v1")
		owned.SetKind("ReplicaSetList")
		Expect(suite.Client.List(ctx, owned, client.InNamespace(f.Namespace))).To(Succeed())
		Expect(owned.Items).To(HaveLen(1))

		clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd}")
		Expect(podSpec(label(ctx, f, &owned.Items[0], "1"))).NotTo(HaveKey("nodeSelector"))
		Expect(podSpec(etcd(ctx, f, "ReplicaSet", ""))).To(HaveKeyWithValue("nodeSelector", inPool))
	})
})
