// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/history"
	"github.com/placement-hub/placement-hub/test/integration/suite"
	"github.com/placement-hub/placement-hub/test/integration/suite/matrix"
)

// changing are the verbs of requests that write.
var changing = []string{"create", "update", "patch", "delete"}

// placementWrites are the requests by which a placement is carried out.
var placementWrites = []matrix.Request{
	{Name: "create of placementdecisions", Match: faults.Match{Verbs: []string{"create"}, Resources: []string{"placementdecisions"}}},
	{Name: "patch of placementdecisions", Match: faults.Match{Verbs: []string{"patch", "update"}, Resources: []string{"placementdecisions"}}},
	{
		Name:  "patch of placementdecisions/status",
		Match: faults.Match{Verbs: []string{"patch", "update"}, Resources: []string{"placementdecisions/status"}},
	},
	{Name: "delete of placementdecisions", Match: faults.Match{Verbs: []string{"delete"}, Resources: []string{"placementdecisions"}}},
	{Name: "patch of placements/status", Match: faults.Match{Verbs: []string{"patch", "update"}, Resources: []string{"placements/status"}}},
}

// brokenWrite is a placement in a namespace of its own, of which one kind of write fails in one way.
type brokenWrite struct {
	*suite.Fixture

	broken    *matrix.Broken
	recording *suite.Recording
	members   []string
}

// settleFirst has the placement selected in three groups of one page each.
func (b *brokenWrite) settleFirst(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(b.Look(ctx, g, "p").Groups).To(HaveExactElements(
			"0/: 2 [p-decision-1]", "1/: 2 [p-decision-2]", "2/: 1 [p-decision-3]"))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), b.broken.String())
}

// change makes every kind of write necessary: a page to mend and to fill, one to create, two to delete, a status.
func (b *brokenWrite) change(ctx context.Context) {
	GinkgoHelper()
	suite.Edit(ctx, &b.Pages(ctx, Default, "p")[0], func(p *clusterv1beta1.PlacementDecision) { p.OwnerReferences = nil })
	b.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.DecisionStrategy = suite.CanaryStrategy(3, true) })
}

// settled demands the state after the change.
func (b *brokenWrite) settled(ctx context.Context, g Gomega) {
	seen := b.Look(ctx, g, "p")
	g.Expect(seen.Satisfied).To(Equal(suite.AllScheduled))
	g.Expect(seen.Groups).To(HaveLen(2))
	g.Expect(b.untrue(ctx, g)).To(BeEmpty())
	g.Expect(b.Pages(ctx, g, "p")).To(HaveLen(2))
}

// untrue says what the conditions claim of this generation that does not stand in the pages that the status names
// (docs/spec/differences.md A7).
func (b *brokenWrite) untrue(ctx context.Context, g Gomega) []string {
	placement := b.Read(ctx, g, "p")

	satisfied := meta.FindStatusCondition(placement.Status.Conditions, clusterv1beta1.PlacementConditionSatisfied)
	g.Expect(satisfied).NotTo(BeNil(), "A5: conditions are never empty")
	if satisfied.ObservedGeneration != placement.Generation {
		return nil
	}
	list := &clusterv1beta1.PlacementDecisionList{}
	g.Expect(suite.Client.List(ctx, list, client.InNamespace(b.Namespace))).To(Succeed())

	var (
		findings []string
		named    []clusterv1beta1.PlacementDecision
	)

	for _, group := range placement.Status.DecisionGroups {
		count := 0
		for _, name := range group.Decisions {
			i := slices.IndexFunc(list.Items, func(page clusterv1beta1.PlacementDecision) bool { return page.Name == name })
			if i < 0 {
				findings = append(findings, "the status names "+name+", which does not exist")
				continue
			}
			named = append(named, list.Items[i])
			count += len(list.Items[i].Status.Decisions)
		}

		if count != int(group.ClustersCount) {
			findings = append(findings, fmt.Sprintf("group %d has %d clusters, and the status says %d",
				group.DecisionGroupIndex, count, group.ClustersCount))
		}
	}

	if satisfied.Status == metav1.ConditionTrue {
		portions := map[string][]string{"canary": b.members[:3], "": b.members[3:]}
		findings = append(findings, history.Unsettled(history.StateOf(named), []string{"canary"}, portions, 3)...)
	}
	return findings
}

// admits reports whether the placement has to say that its decisions could not all be written: a quiet retry, a client that still waits
// and what is carried out after all say nothing, nor does surplus that stays.
func (b *brokenWrite) admits() bool {
	match := b.broken.Match
	return strings.HasPrefix(match.Resources[0], "placementdecisions") && match.Verbs[0] != "delete" &&
		slices.Contains([]faults.Fault{faults.InternalError, faults.Unavailable, faults.Reset}, b.broken.Fault)
}

// subject is the placement as a subject of matrix.
func (b *brokenWrite) subject() *matrix.Subject {
	return &matrix.Subject{
		Settle: func(ctx context.Context) {
			b.settleFirst(ctx)
			b.recording = b.RecordPages(ctx)
			b.recording.Require(b.members...)
		},
		Change: b.change,
		Holds: func(_ context.Context, g Gomega) {
			g.Expect(b.recording.Drain()).To(Succeed())
			b.recording.ExpectRequired()
		},
		Told: func(ctx context.Context, g Gomega) {
			g.Expect(b.untrue(ctx, g)).To(BeEmpty())
			if b.admits() {
				g.Expect(b.Message(ctx, g, "p", clusterv1beta1.PlacementConditionSatisfied)).
					To(HavePrefix("The decisions could not all be written: "))
			}
		},
		Arrives: func(ctx context.Context) {
			Eventually(func(g Gomega) { b.settled(ctx, g) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			b.recording.PlayUntil(ctx, b.Pages(ctx, Default, "p"))
			Expect(history.Unsafe(nil, b.recording.Events(), b.recording.Current(), 3)).To(BeEmpty())
		},
	}
}

var _ = Describe("An API server that fails to write", Ordered, ContinueOnFailure, func() {
	var base *suite.Fixture // has the clusters of all rows
	underTest.Behind()

	underTest.Requests("B1, A7: keeps the decisions, tells the truth, does not press, and is written as soon as it can be", "", &matrix.Requests{
		Kinds: placementWrites,
		Share: func(ctx context.Context) {
			base = suite.NewFixture(ctx)
			base.UnboundSet(ctx, "set")
			base.Clusters(ctx, "set", 1, 3, suite.Labeled("group", "canary"))
			base.Clusters(ctx, "set", 4, 5)
		},
		New: func(ctx context.Context, broken *matrix.Broken) {
			row := &brokenWrite{Fixture: suite.NewNamespace(ctx), broken: broken, members: base.Names(suite.Shorts(1, 5)...)}
			broken.Match.Namespace = row.Namespace
			broken.All = faults.Match{Verbs: changing, Namespace: row.Namespace}
			broken.Subject = row.subject()
			row.BindAny(ctx, base.Name("set"))
			row.Placement(ctx, "p", clusterv1beta1.PlacementSpec{DecisionStrategy: suite.CanaryStrategy(2, false)})
		},
	})
})

var _ = Describe("An API server that gives no answer", Ordered, func() {
	It("A7: holds a worker for a while only, and the placement says so", func(ctx SpecContext) {
		proxy := suite.ThroughProxy(ctx, func(o *system.Options) { o.Workers, o.ReconcileTimeout = 1, time.Second })
		f, other := suite.NewFixture(ctx), suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		other.Set(ctx, "set")
		other.Clusters(ctx, "set", 1, 1)

		mend := proxy.Break(faults.Rule{
			Match: faults.Match{Verbs: []string{"create"}, Resources: []string{"placementdecisions"}, Namespace: f.Namespace},
			Fault: faults.Hang,
		})
		DeferCleanup(mend)

		f.Placement(ctx, "stuck", clusterv1beta1.PlacementSpec{})
		Eventually(func() []faults.Request {
			return proxy.Requests(faults.Match{Verbs: []string{"create"}, Resources: []string{"placementdecisions"}, Namespace: f.Namespace})
		}).WithContext(ctx).WithTimeout(suite.Timeout).ShouldNot(BeEmpty())

		other.Placement(ctx, "free", clusterv1beta1.PlacementSpec{})
		other.ExpectSelected(ctx, "free", suite.AllScheduled, "c001")
		Eventually(func(g Gomega) {
			g.Expect(f.Message(ctx, g, "stuck", clusterv1beta1.PlacementConditionSatisfied)).
				To(Equal("The decisions could not all be written: creating PlacementDecision " + f.Namespace + "/stuck-decision-1: " +
					"the API server could not be asked"))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		mend()
		f.ExpectSelected(ctx, "stuck", suite.AllScheduled, "c001", "c002")
	})

	It("A7: and one that refuses connections, is waited for", func(ctx SpecContext) {
		proxy := suite.ThroughProxy(ctx)
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")
		recording := f.RecordPages(ctx)
		recording.Require(f.Names("c001", "c002")...)

		up, err := proxy.Refuse()
		Expect(err).NotTo(HaveOccurred())
		f.Clusters(ctx, "set", 3, 3)
		f.Placement(ctx, "new", clusterv1beta1.PlacementSpec{})
		Consistently(func(g Gomega) {
			g.Expect(f.Look(ctx, g, "p").Selected).To(HaveExactElements("c001", "c002"))
			g.Expect(f.Pages(ctx, g, "new")).To(BeEmpty())
		}).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())

		Expect(up()).To(Succeed())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002", "c003")
		f.ExpectSelected(ctx, "new", suite.AllScheduled, "c001", "c002", "c003")
		recording.PlayUntil(ctx, suite.AllPages(ctx, f))
	})
})
