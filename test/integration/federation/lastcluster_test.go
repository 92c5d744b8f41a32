// SPDX-License-Identifier: Apache-2.0

package federation

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("the only cluster of an object, on a hub with a removal budget", func() {
	BeforeEach(func(ctx SpecContext) {
		suite.PauseHub(ctx)
		stop := suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), func(o *system.Options) {
			o.RemovalLimit = removalbudget.Limit{Percent: new(50)}
		})
		DeferCleanup(stop)
	})

	It("B17: keeps its work while its set is unbound, and has the same one when the set is bound again", func(ctx SpecContext) {
		s := newUnboundScene(ctx)
		s.UnboundSet(ctx, "s")
		binding := s.Bind(ctx, "s")
		s.clusters(ctx, "s", 2)
		s.Set(ctx, "other")
		s.Cluster(ctx, "other", "c3", suite.IsAvailable(metav1.ConditionTrue))
		s.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name("c3")}})
		for short, role := range map[string]string{"c1": "app", "c2": "pair", "c3": "pair"} {
			s.EditCluster(ctx, short, func(c *clusterv1.ManagedCluster) { c.Labels["role"] = role })
		}
		s.Placement(ctx, "p", suite.Matching(suite.ByLabel("role", "app")))
		app := selecting(`[{"key":"role","operator":"=","values":["app"]}]`)
		objects := []client.Object{
			s.configMap(ctx, "selecting", app), s.deployment(ctx, app),
			s.configMap(ctx, "placed", map[string]string{federation.PlacementAnnotation: "p"}),
		}
		pair := s.configMap(ctx, "pair", selecting(`[{"key":"role","operator":"=","values":["pair"]}]`))
		uids := make([]map[string]apitypes.UID, 0, len(objects))
		for _, object := range objects {
			expectWorks(ctx, object, s.Name("c1"))
			uids = append(uids, uidsOf(ctx, object))
		}
		expectWorks(ctx, pair, s.Names("c2", "c3")...)

		Expect(hub.Delete(ctx, binding)).To(Succeed())
		for _, object := range objects {
			expectEvent(ctx, object, federation.ReasonRemovalHeld, "holds the works of the last clusters for 10m0s at most")
		}
		// When the one cluster of a pair has lost its work, the grace of all others is over.
		expectWorks(ctx, pair, s.Name("c3"))
		s.Bind(ctx, "s")
		later := s.configMap(ctx, "later", app)
		expectWorks(ctx, later, s.Name("c1"))
		for i, object := range objects {
			Expect(uidsOf(ctx, object)).To(Equal(uids[i]), "works of %s", identityOf(object))
		}
	})
})
