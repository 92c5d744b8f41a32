// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/history/works"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	// manyClusters are relabelled at once, killedAfter is the number of writes after which a hub is killed meanwhile, and fewKills the least
	// number of times that this happens: the requests of a hub that are on their way when it is killed are carried out as well.
	manyClusters = 300
	killedAfter  = 29
	fewKills     = 3
	// manyObjects are delivered to fewClusters each. `make bench` restarts a hub over more.
	manyObjects = 30
	fewClusters = 20
	// manyTimeout bounds the time in which many works are written.
	manyTimeout = 2 * time.Minute
)

// workWrites matches the requests by which works change.
var workWrites = faults.Match{Verbs: []string{"create", "patch", "update", "delete"}, Resources: []string{"manifestworks"}}

var _ = Describe("a hub that starts", func() {
	It("federated-selector F35: no work of a staying cluster is deleted while the selection moves and the hub is killed", func(ctx SpecContext) {
		s := newUnboundScene(ctx)
		s.Set(ctx, "s")
		side := func(left bool) string {
			if left {
				return "left"
			}
			return "right"
		}
		// Two thirds of the clusters are on the left; one third leaves, one third comes.
		s.manyClusters(ctx, manyClusters, func(i int, c *clusterv1.ManagedCluster) { c.Labels["side"] = side(i <= 200) })
		object := s.configMap(ctx, "c", selecting(`[{"key":"side","operator":"=","values":["left"]}]`))
		expectNumber(ctx, object, 200)
		history, err := works.Record(ctx, suite.ControlPlane.AdminConfig())
		Expect(err).NotTo(HaveOccurred())
		Expect(history.CatchUp(ctx)).To(Succeed())

		mark, resume := history.Mark(), suite.PauseHub(ctx)
		Expect(suite.Each(ctx, manyClusters, func(ctx context.Context, i int) error {
			relabelled := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: s.Name(fmt.Sprintf("c%03d", i+1))}}
			patch := fmt.Sprintf(`{"metadata":{"labels":{"side":%q}}}`, side(i >= 100))
			return suite.Client.Patch(ctx, relabelled, client.RawPatch(types.MergePatchType, []byte(patch)))
		})).To(Succeed())
		moved := func(g Gomega) bool {
			clusters := clustersOf(ctx, g, object)
			return len(clusters) == 200 && clusters[0] == s.Name("c101")
		}

		kills := 0
		for runKilledHub(ctx, kills, moved) {
			kills++
		}
		Expect(kills).To(BeNumerically(">=", fewKills), "hubs that were killed")
		resume()
		Eventually(moved).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeTrue())

		Expect(history.CatchUp(ctx)).To(Succeed())
		passage := history.Since(mark)
		Expect(passage.Staying()).To(HaveLen(100))
		Expect(passage.Disturbed(passage.Staying())).To(BeEmpty())
		Expect(passage.EarlyLosses()).To(BeEmpty())
		Expect(passage.Doubled()).To(BeEmpty())
	})

	It("federated-selector F36: a restart over settled works writes nothing", func(ctx SpecContext) {
		s := newUnboundScene(ctx)
		s.Set(ctx, "s")
		s.manyClusters(ctx, fewClusters, func(int, *clusterv1.ManagedCluster) {})
		Expect(suite.Each(ctx, manyObjects, func(ctx context.Context, i int) error {
			return hub.Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: fmt.Sprintf("c%d", i)}, Data: map[string]string{"v": "1"},
			})
		})).To(Succeed())

		written := func(g Gomega) int { return len(s.writes(g)) }
		Eventually(written).WithContext(ctx).WithTimeout(manyTimeout).WithPolling(time.Second).
			Should(BeNumerically(">=", manyObjects*fewClusters))
		before := suite.AwaitUnchanged(ctx, written)
		suite.PauseHub(ctx)()
		probe := newScene(ctx)
		expectDelivered(ctx, probe.configMap(ctx, "probe", nil), "eu1", "eu2", "us1")
		Expect(suite.AwaitUnchanged(ctx, written)).To(Equal(before))
	})
})

// manyClusters creates available clusters without agents, c001 and so on, in the set "s", and their namespaces.
func (s scene) manyClusters(ctx context.Context, n int, edit func(i int, c *clusterv1.ManagedCluster)) {
	GinkgoHelper()
	s.ManyClusters(ctx, "s", 1, n, edit)
	Expect(suite.Each(ctx, n, func(ctx context.Context, i int) error {
		return hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: s.Name(fmt.Sprintf("c%03d", i+1)), Labels: map[string]string{suite.FixtureLabel: s.Namespace},
		}})
	})).To(Succeed())
}

// expectNumber waits until an object has a number of works.
func expectNumber(ctx context.Context, object client.Object, n int) {
	GinkgoHelper()
	Eventually(func(g Gomega) []string { return clustersOf(ctx, g, object) }).
		WithContext(ctx).WithTimeout(manyTimeout).Should(HaveLen(n))
}

// runKilledHub runs a hub that is killed after some writes of works, unless it is done before, and reports whether it was killed. A hub with an
// odd number loses the response of its last write, and one with an even number the request.
func runKilledHub(ctx context.Context, number int, done func(Gomega) bool) (killed bool) {
	GinkgoHelper()
	proxy, err := faults.Start(suite.HubConfig(ctx, suite.ControlPlane))
	Expect(err).NotTo(HaveOccurred())
	fault := faults.Reset
	if number%2 == 1 {
		fault = faults.Lost
	}
	proxy.Break(faults.Rule{Match: workWrites, Fault: fault, After: killedAfter})
	stop := suite.StartHub(proxy.Config()) //nolint:contextcheck // It runs until stop.

	Eventually(func(g Gomega) bool {
		killed = len(proxy.Requests(workWrites)) > killedAfter
		return killed || done(g)
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeTrue())
	Expect(proxy.Close()).To(Succeed())
	stop()
	return killed
}

// writes returns the writes of works by the hub in the clusters of the scene.
func (s scene) writes(g Gomega) []string {
	return slices.DeleteFunc(suite.HubWrites(g, func(namespace string) bool { return strings.HasPrefix(namespace, s.Namespace+"-") }),
		func(write string) bool { return !strings.Contains(write, "manifestworks/") })
}
