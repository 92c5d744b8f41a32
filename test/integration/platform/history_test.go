// SPDX-License-Identifier: Apache-2.0

package platform

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/history/recorder"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("the history of requests", func() {
	It("HI16: has the Cluster that a request got and gave back, and why", func(ctx SpecContext) {
		happened := recorder.New(1<<20, "")
		suite.PauseHub(ctx)
		DeferCleanup(suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), func(o *system.Options) { o.Recorder = happened }))
		provide(ctx, nullProvider, nil)
		w := newWorld(ctx)
		w.published(w.request("first", w.shared)) // What is created before the watches of the hub is no change that it sees.
		request := w.request("ci", w.shared)
		cluster := w.published(request)
		name := cluster.Namespace + "/" + cluster.Name
		rows := func() []*history.Move {
			found, _ := happened.Find(history.Query{Namespace: w.Namespace, Has: func(of history.Object) bool { return of.Name == "ci" }})
			return found
		}
		row := func(action history.Action) OmegaMatcher {
			return And(HaveField("Name", "ci"), HaveField("UID", string(request.UID)), HaveField("Causes", ConsistOf(And(
				HaveField("Kind", "ClusterRequest"), HaveField("Name", "ci"), HaveField("Action", action),
			))))
		}
		w.eventually(func(g Gomega) {
			g.Expect(rows()).To(HaveExactElements(And(row(history.Created), HaveField("Gained", []string{name}))))
		})

		Expect(suite.Client.Delete(ctx, request)).To(Succeed())
		suite.ExpectGone(ctx, request)
		w.eventually(func(g Gomega) {
			g.Expect(rows()).To(HaveLen(2))
			g.Expect(rows()[1]).To(And(HaveField("Lost", []string{name}), HaveField("Causes", Not(BeEmpty()))))
		})
	})
})
