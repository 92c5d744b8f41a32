// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"encoding/json"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/history/archive"
	"github.com/placement-hub/placement-hub/pkg/history/recorder"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// archives returns the ConfigMaps of the history, with their versions.
func archives(ctx context.Context) map[string]string {
	GinkgoHelper()
	list := &corev1.ConfigMapList{}
	ours := client.MatchingLabels{archive.Label: archive.LabelValue}
	Expect(suite.Client.List(ctx, list, client.InNamespace(manifests.Namespace), ours)).To(Succeed())
	versions := map[string]string{}
	for i := range list.Items {
		versions[list.Items[i].Name] = list.Items[i].ResourceVersion
	}
	return versions
}

var _ = Describe("The history in ConfigMaps", Ordered, func() {
	var (
		f         *suite.Fixture
		mine, was *hub
		stop      func()
	)
	start := func(ctx context.Context) *hub {
		h := &hub{recorder: recorder.New(1<<20, manifests.Namespace), view: &controller.View{}}
		stop = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), h.configure)
		return h
	}
	text := func(moves []*history.Move) string {
		text, err := json.Marshal(moves)
		Expect(err).NotTo(HaveOccurred())
		return string(text)
	}
	find := func(h *hub) []*history.Move {
		moves, _ := h.recorder.Find(history.Query{Namespace: f.Namespace})
		return moves
	}

	BeforeAll(func(ctx SpecContext) {
		suite.PauseHub(ctx)
		Expect(archives(ctx)).To(BeEmpty(), "a hub without --history=configmaps writes none")
		file, err := os.Open("../../../manifests/history/role.yaml")
		Expect(err).NotTo(HaveOccurred())
		role, err := manifests.Decode(file, file.Name())
		Expect(err).NotTo(HaveOccurred())
		Expect(file.Close()).To(Succeed())
		Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), role)).To(Succeed())
		mine = start(ctx)
		DeferCleanup(func() { stop() })
		f = suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "eu1")
		f.Placement(ctx, "payments", clusterv1beta1.PlacementSpec{})
	})

	It("HI12: has the rows of the leader, with causes and reasons", func(ctx SpecContext) {
		Eventually(func() []*history.Move { return find(mine) }).WithTimeout(suite.Timeout).Should(HaveLen(1))
		cluster := &clusterv1.ManagedCluster{}
		Expect(suite.Client.Get(ctx, client.ObjectKey{Name: f.Name("eu1")}, cluster)).To(Succeed())
		before := cluster.DeepCopy()
		cluster.Spec.Taints = []clusterv1.Taint{{Key: "maintenance", Effect: clusterv1.TaintEffectNoSelect}}
		Expect(suite.Client.Patch(ctx, cluster, client.MergeFrom(before), client.FieldOwner("kubectl-edit"))).To(Succeed())
		Eventually(func() []*history.Move { return find(mine) }).WithTimeout(suite.Timeout).Should(HaveLen(2))
		Eventually(func() []*history.Move {
			stored, err := archive.New(suite.Client, manifests.Namespace, archive.MaxBytes).Load(ctx)
			Expect(err).NotTo(HaveOccurred())
			return stored
		}).WithTimeout(suite.Timeout).Should(HaveLen(2))
		Expect(archives(ctx)).To(HaveLen(1))
	})

	It("HI12, HI14: the next process has the same rows, and writes nothing", func(ctx SpecContext) {
		was = mine
		stop()
		versions := archives(ctx)
		mine = start(ctx)
		Eventually(func() string { return text(find(mine)) }).WithTimeout(suite.Timeout).Should(MatchJSON(text(find(was))))
		last := find(mine)[1]
		Expect(last.Lost).To(Equal([]string{f.Name("eu1")}))
		Expect(last.Reasons).NotTo(BeEmpty())
		Expect(last.Causes).To(ContainElement(HaveField("Manager", "kubectl-edit")))
		Eventually(mine.recorder.Leads).WithTimeout(suite.Timeout).Should(BeTrue())
		Consistently(func() map[string]string { return archives(ctx) }).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).
			Should(Equal(versions))
	})

	It("HI12: the next row is appended", func(ctx SpecContext) {
		f.Cluster(ctx, "set", "eu2")
		Eventually(func() []*history.Move { return find(mine) }).WithTimeout(suite.Timeout).Should(HaveLen(3))
		stop()
		stored, err := archive.New(suite.Client, manifests.Namespace, archive.MaxBytes).Load(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(stored).To(HaveLen(3))
		Expect(archives(ctx)).To(HaveLen(1))
	})
})
