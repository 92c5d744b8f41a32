package federationfaults

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	// settleTimeout is how long 1,000 works may take on a loaded machine.
	settleTimeout = 2 * time.Minute
	// withdrawTimeout is how long the deletion of these works and of their 20 namespaces may take.
	withdrawTimeout = 4 * time.Minute
)

var _ = Describe("A restart", Ordered, func() {
	It("federated-selector F36: writes nothing over 50 objects in 20 clusters; the benchmark restarts over 50,000 works", func(ctx SpecContext) {
		const objects, clusters = 50, 20

		start := func() func() { return suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), delivering) }

		install()
		suite.StopHub()

		suite.StopHub = start()

		var w *world

		DeferCleanup(func(ctx SpecContext) {
			suite.StopHub()

			suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		})
		DeferCleanup(func(ctx SpecContext) {
			if w != nil {
				// The withdrawal of so many works would slow down the spec that follows.
				suite.ExpectGoneWithin(ctx, withdrawTimeout, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}})
			}
		})

		w = newWorld(ctx)
		w.members(ctx, "set", 1, clusters, always("aboard"))
		w.record(ctx)

		// Works of earlier specs may be there still, and go meanwhile.
		delivered := func() (count int) {
			for key := range w.history.Mark().Keys() {
				if strings.Contains(key.Object, "/"+w.Namespace+"/") {
					count++
				}
			}

			return count
		}

		Expect(suite.Each(ctx, objects, func(ctx context.Context, i int) error {
			cm := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("cm-%04d", i)},
				Data:       map[string]string{"number": strconv.Itoa(i)},
			}

			return suite.Client.Create(ctx, cm)
		})).To(Succeed())

		Eventually(delivered).
			WithContext(ctx).WithTimeout(settleTimeout).WithPolling(time.Second).Should(Equal(objects * clusters))

		// The Events of the delivery are sent when there is nothing else to do, which can be after the works have been the same for a while.
		writes := func(g Gomega) []string {
			ofThisSpec := func(namespace string) bool {
				return namespace == w.Namespace || strings.HasPrefix(namespace, w.Namespace+"-")
			}

			return slices.DeleteFunc(suite.HubWrites(g, ofThisSpec), func(write string) bool {
				return strings.Contains(write, " events") // With a name or without.
			})
		}
		written := suite.AwaitUnchanged(ctx, writes)
		evaluations := suite.CounterSum(Default, "controller_runtime_reconcile_total", map[string]string{"controller": objectsController})

		suite.StopHub()

		suite.StopHub = start()

		Eventually(func(g Gomega) {
			now := suite.CounterSum(g, "controller_runtime_reconcile_total", map[string]string{"controller": objectsController})
			g.Expect(now-evaluations).To(BeNumerically(">=", objects), "every object was evaluated again")
		}).WithContext(ctx).WithTimeout(settleTimeout).Should(Succeed())
		Expect(suite.AwaitUnchanged(ctx, writes)[len(written):]).To(BeEmpty(), "writes after the restart")
	})
})
