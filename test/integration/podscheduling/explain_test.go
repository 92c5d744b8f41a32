// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// explain explains a workload as it is stored, among the objects of the API server.
func explain(ctx context.Context, object *unstructured.Unstructured) pods.Report {
	GinkgoHelper()
	kind, is := pods.KindOf(object.GroupVersionKind())
	Expect(is).To(BeTrue(), object.GetKind())
	objects, err := hubstate.PodsFromCluster(ctx, suite.Client, []hubstate.Workload{
		{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()},
	})
	Expect(err).NotTo(HaveOccurred())
	report, err := pods.NewEvaluator(objects).Explain(objects.Workloads[0], false)
	Expect(err).NotTo(HaveOccurred())
	return report
}

// explained returns what a report says of a policy.
func explained(report pods.Report, policy *unstructured.Unstructured) pods.Policy {
	GinkgoHelper()
	for _, found := range report.Policies {
		if strings.HasSuffix(found.Policy, " "+policy.GetName()) {
			return found
		}
	}
	Fail("the report has no " + policy.GetName())
	return pods.Policy{}
}

var _ = Describe("What explain and diff say of workloads", Ordered, func() {
	BeforeAll(func(ctx SpecContext) { serve(ctx) })

	It("K38: a Deployment that is older than the policy has drifted, until its next update", func(ctx SpecContext) {
		f := newFixture(ctx)
		deployment := etcd(ctx, f, "Deployment", "nodeSelector: {disk: hdd}")
		settled(ctx, deployment)
		older := clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd, disk: ssd}, tolerations: [{key: dedicated, operator: Exists}]")
		before := read(ctx, Default, older)

		report := explain(ctx, deployment)
		Expect(report.Drift).To(Equal([]string{"nodeSelector[pool]", "tolerations"}))
		Expect(explained(report, older)).To(Equal(pods.Policy{
			Policy: "ClusterPodSchedulingPolicy " + older.GetName(), Matches: true, Adds: report.Drift,
			Skipped: []pods.Skip{{
				Field: "nodeSelector[disk]", Reason: "Conflict", Message: `nodeSelector[disk]: "hdd" is kept, not "ssd"`,
			}},
		}))
		objects, err := hubstate.AllPodsFromCluster(ctx, suite.Client, f.Namespace)
		Expect(err).NotTo(HaveOccurred())

		differences, err := pods.Diff(objects, objects)
		Expect(err).NotTo(HaveOccurred())
		Expect(differences.Workloads).To(HaveLen(1))
		Expect(differences.Workloads[0]).To(And(HaveField("Kind", "Deployment"), HaveField("Anyway", true), HaveField("Lacks", report.Drift)))
		Expect(differences.Workloads[0].Patch).To(ContainSubstring("+        pool: etcd\n"))
		Expect(read(ctx, Default, older)).To(Equal(before), "explain writes nothing")
		labelled := label(ctx, f, deployment, "1")
		Expect(podSpec(labelled)).To(HaveKeyWithValue("nodeSelector", map[string]any{"pool": "etcd", "disk": "hdd"}))

		report = explain(ctx, deployment)
		Expect(report.Drift).To(BeEmpty())
		Expect(explained(report, older).Has).To(Equal([]string{"nodeSelector[pool]", "tolerations"}))
	})

	It("2.1.1: explain says why a policy does not match", func(ctx SpecContext) {
		f := newFixture(ctx)
		deployment := etcd(ctx, f, "Deployment", "")
		other := clusterPolicy(ctx, f, "labels",
			"namespaceSelector: {matchLabels: {fixture: "+f.Namespace+"}}, podSelector: {matchLabels: {app: web}}, nodeName: n1")
		elsewhere := clusterPolicy(ctx, f, "elsewhere", "namespaceSelector: {matchLabels: {fixture: other}}, podSelector: {}, nodeName: n1")
		report := explain(ctx, deployment)
		Expect(explained(report, other).Mismatch).To(Equal(`pod label app=web: is "etcd"`))
		Expect(explained(report, elsewhere).Mismatch).To(Equal(`namespace label fixture=other: is "` + f.Namespace + `"`))
		Expect(report.Drift).To(BeEmpty())
	})

	It("explain counts the nodes as kube-scheduler does", func(ctx SpecContext) {
		f := newFixture(ctx)
		f.Node(ctx, "plain", nil)
		f.Node(ctx, "tainted", nil, etcdTaint)
		f.Node(ctx, "cordoned", nil, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		pod := workload(f, "Pod", "etcd", "etcd", "nodeSelector: {pool: nowhere}")
		f.Create(ctx, pod)
		report := explain(ctx, pod)
		Expect(report.Nodes.Fit).To(BeEmpty())

		said := strings.TrimSuffix(report.Nodes.Message, ".")
		Eventually(func(g Gomega) {
			events := &eventsv1.EventList{}
			g.Expect(suite.Client.List(ctx, events, client.InNamespace(f.Namespace))).To(Succeed())
			var notes []string
			for _, event := range events.Items {
				if event.Reason == "FailedScheduling" {
					notes = append(notes, withSummedTaints(event.Note))
				}
			}
			g.Expect(notes).To(ContainElement(HavePrefix(said)))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})
})

// aTaint is what kube-scheduler says up to 1.33 of the nodes with each taint that a Pod does not tolerate. A newer one says how many nodes have any.
var aTaint = regexp.MustCompile(`(\d+) node\(s\) had untolerated taint \{[^}]*\}`)

// withSummedTaints returns the note of kube-scheduler with one number of nodes for all taints, as newer versions write it. It expects the parts about
// taints one after the other.
func withSummedTaints(note string) string {
	GinkgoHelper()
	parts := aTaint.FindAllStringSubmatch(note, -1)
	if len(parts) == 0 {
		return note
	}
	nodes := 0
	each := make([]string, 0, len(parts))

	for _, part := range parts {
		count, err := strconv.Atoi(part[1])
		Expect(err).NotTo(HaveOccurred())
		nodes += count
		each = append(each, part[0])
	}
	return strings.Replace(note, strings.Join(each, ", "), fmt.Sprintf("%d node(s) had untolerated taint(s)", nodes), 1)
}
