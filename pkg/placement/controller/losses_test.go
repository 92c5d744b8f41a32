// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// A page that somebody has edited is mended, and that takes away nothing which the hub had decided: no Warning tells of it. What the hub itself
// takes away afterwards is told.
func TestMendingAPageIsNoLoss(t *testing.T) {
	g := newBudgeted(t)
	for n := range 3 {
		page := &clusterv1beta1.PlacementDecision{}
		if err := g.api.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: fmt.Sprintf("p-decision-%d", n+1)}, page); err != nil {
			t.Fatal(err)
		}
		for i := range page.Status.Decisions {
			page.Status.Decisions[i].ClusterName = fmt.Sprintf("foreign-%d-%d", n, i)
		}
		if err := g.api.Status().Update(t.Context(), page); err != nil {
			t.Fatal(err)
		}
	}

	g.edit(func(p *clusterv1beta1.Placement) {
		p.Annotations = map[string]string{removalbudget.PercentAnnotation: "100"}
	})
	g.reconcile()
	g.expectWarnings()

	g.remove(0, 200)
	g.reconcile()
	g.expectWarnings("ManyClustersRemoved The decisions lost 200 of 250 clusters: c000, c001, c002 and 197 more")
}

// Where no cluster is feasible there are no scores to tell of.
func TestMissingScoresSendNoEvent(t *testing.T) {
	g := newBudgeted(t)
	g.edit(func(p *clusterv1beta1.Placement) {
		p.Annotations = map[string]string{removalbudget.PercentAnnotation: "100"}
	})
	g.reconcile()
	for len(g.events.Events) > 0 {
		<-g.events.Events
	}
	g.remove(0, 250)
	g.reconcile()

	for len(g.events.Events) > 0 {
		if text := <-g.events.Events; text == "Normal ScoreUpdate " {
			t.Errorf("got %q", text)
		}
	}
}
