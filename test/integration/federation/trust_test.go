// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/integration/members"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// notTheirs matches the refusal of a change of a work by somebody who may not deliver.
func notTheirs(words ...string) OmegaMatcher {
	matchers := []OmegaMatcher{ContainSubstring("verb \"deliver\"")}
	for _, word := range words {
		matchers = append(matchers, ContainSubstring(word))
	}
	return And(WithTransform(apierrors.IsForbidden, BeTrue()), MatchError(And(matchers...)))
}

var _ = Describe("the agent of a member, with the rights that a registered cluster has", func() {
	// patch sends a merge patch of a work as the agent of us1 does.
	patch := func(ctx context.Context, work *workv1.ManifestWork, body string) error {
		return us1.AgentOnHub().Patch(ctx, work.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(body)))
	}
	It("T8: changes nothing of a work of the hub but the status and its finalizer", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", selecting(inUSA))
		expectCopies(ctx, object, us1) // So the agent has written its finalizer and the status.
		work := worksOf(ctx, Default, object)["us1"]
		Expect(work.Finalizers).To(ContainElement(workv1.ManifestWorkFinalizer))
		Eventually(func() error { return patch(ctx, work, `{"metadata":{"labels":{"a":"b"}}}`) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(notTheirs("status and finalizers"))

		for _, body := range []string{
			`{"spec":{"workload":{"manifests":[]}}}`,
			`{"spec":{"executor":{"subject":{"type":"ServiceAccount","serviceAccount":{"namespace":"a","name":"b"}}}}}`,
			`{"metadata":{"labels":{"federation.kubernetes.io/managed":null}}}`,
			`{"metadata":{"labels":{"federation.kubernetes.io/managed":"false"}}}`,
			`{"metadata":{"annotations":{"federation.kubernetes.io/object":"ConfigMap/team-b/other"}}}`, `{"metadata":{"annotations":null}}`,
		} {
			Expect(patch(ctx, work, body)).To(notTheirs("status and finalizers"), body)
		}

		Expect(patch(ctx, work, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"none","uid":"0"}]}}`)).
			To(notTheirs("adding an owner"))
		Expect(patch(ctx, work, `{"metadata":{"managedFields":[{}]}}`)).To(notTheirs("field manager"))
		for _, finalizers := range []string{`,"example.com/a"`, ""} {
			Expect(patch(ctx, work, `{"metadata":{"finalizers":["cluster.open-cluster-management.io/manifest-work-cleanup"`+finalizers+`]}}`)).
				To(Succeed())
		}
		Expect(worksOf(ctx, Default, object)["us1"].Spec).To(Equal(work.Spec))

		By("and the deletion of the object still withdraws")
		Expect(hub.Delete(ctx, object)).To(Succeed())
		expectNoCopy(ctx, object, us1)
		expectGone(ctx, object)
	})

	It("T8: does not make a work of its own one of the hub", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		work := handWritten(f.Namespace)
		work.Namespace = "us1"
		Expect(hub.Create(ctx, work)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(hub.Delete(ctx, work)).To(Succeed())
			expectNoWork(ctx, work)
		})

		Expect(patch(ctx, work, `{"metadata":{"annotations":{"a":"b"}}}`)).To(Succeed())
		Eventually(func() error {
			return patch(ctx, work, `{"metadata":{"labels":{"federation.kubernetes.io/managed":"true"}}}`)
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(notTheirs("adding the label"))
	})

	It("T8: moves no replica of the others by what it reports", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.deployment(ctx, nil)
		expectReplicas(ctx, object, map[string]int32{"eu1": 3, "eu2": 3, "us1": 3})
		all := []*members.Member{eu1, eu2, us1}
		for _, member := range all {
			member.PauseAgent()
		}
		resume := suite.PauseHub(ctx) // It sees the reports at once.

		for member, ready := range map[*members.Member]int{eu1: 3, eu2: 3, us1: 1_000_000} {
			report := fmt.Sprintf(`{"status":{"resourceStatus":{"manifests":[{"resourceMeta":{"ordinal":1,`+
				`"resource":"deployments","name":"web"},"conditions":[],`+
				`"statusFeedback":{"values":[{"name":%q,"fieldValue":{"type":"Integer","integer":%d}}]}}]}}}`,
				federation.ReadyReplicas, ready)
			work := worksOf(ctx, Default, object)[member.Cluster]
			Expect(member.AgentOnHub().Status().Patch(ctx, work, client.RawPatch(types.MergePatchType, []byte(report)))).To(Succeed())
			Expect(federation.ReadyOf(worksOf(ctx, Default, object)[member.Cluster])).To(BeEquivalentTo(ready))
		}
		resume()

		// A change that is delivered later shows that the hub has seen the report.
		annotate(ctx, object, map[string]string{"team": "a"})
		Eventually(func(g Gomega) string {
			return string(worksOf(ctx, g, object)["us1"].Spec.Workload.Manifests[1].Raw)
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(ContainSubstring(`"team":"a"`))
		expectReplicas(ctx, object, map[string]int32{"eu1": 3, "eu2": 3, "us1": 3})
	})
})

var _ = Describe("lost scope and clusters that cannot get an object", func() {
	It("T10: an unbound set withdraws, whatever mistakes and annotations objects have, also in a suspended namespace", func(ctx SpecContext) {
		s := newScene(ctx)
		garbage := map[string]map[string]string{
			"selector":  {federation.SelectorAnnotation: "garbage"},
			"placement": {federation.PlacementAnnotation: "missing"},
			"budget":    {removalbudget.PercentAnnotation: "0"},
			"unread":    {removalbudget.PercentAnnotation: "many"},
		}

		objects := map[string]*corev1.ConfigMap{}
		for name := range garbage {
			objects[name] = s.configMap(ctx, name, nil)
		}
		web := s.deployment(ctx, nil)
		for _, object := range objects {
			expectDelivered(ctx, object, "eu1", "eu2", "us1")
		}
		expectWorks(ctx, web, "eu1", "eu2", "us1")

		for name, annotations := range garbage {
			annotate(ctx, objects[name], annotations)
		}
		annotate(ctx, web, map[string]string{federation.DeploymentPreferencesAnnotation: "{"})
		expectEvent(ctx, objects["selector"], federation.ReasonClusterSelectorInvalid)
		s.optOut(ctx)
		unbind(ctx, s)
		for _, object := range objects {
			expectWorks(ctx, object)
		}

		expectWorks(ctx, web)
	})

	It("T9: a ManagedCluster without a namespace does not keep the works of a cluster that leaves", func(ctx SpecContext) {
		s := newUnboundScene(ctx)
		s.Set(ctx, "s")
		s.clusters(ctx, "s", 2)
		object := s.configMap(ctx, "c", nil)
		expectDelivered(ctx, object, s.Names("c1", "c2")...)
		s.Cluster(ctx, "s", "bare", suite.IsAvailable(metav1.ConditionTrue))
		s.EditCluster(ctx, "c1", func(c *clusterv1.ManagedCluster) { delete(c.Labels, clusterv1beta2.ClusterSetLabel) })
		expectWorks(ctx, object, s.Name("c2"))
	})
})
