// SPDX-License-Identifier: Apache-2.0

package federationfaults

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite/matrix"
)

// The kinds of requests of a move: c001 stays, c002 loses the object, c003 gains it, and its content changes. A new object needs a finalizer.
const (
	creating   = "creating the work of a cluster"
	changing   = "changing the work of a cluster"
	deleting   = "deleting the work of a cluster"
	finalizing = "adding the finalizer"
	reading    = "reading the object"
)

var requests = []matrix.Request{
	{Name: creating, Match: faults.Match{Verbs: []string{"patch"}, Resources: []string{worksResource}}},
	{Name: changing, Match: faults.Match{Verbs: []string{"patch"}, Resources: []string{worksResource}}},
	{Name: deleting, Match: faults.Match{Verbs: []string{"delete"}, Resources: []string{worksResource}}},
	{Name: finalizing, Match: faults.Match{Verbs: []string{"patch"}, Resources: []string{"configmaps"}}},
	{Name: reading, Match: faults.Match{Verbs: []string{"get"}, Resources: []string{"configmaps"}}},
}

// clusterOf has the cluster in whose namespace a request is sent; the others are sent in the namespace of the object.
var clusterOf = map[string]string{creating: "c003", changing: "c001", deleting: "c002"}

// delivery narrows the requests that fail to those of a world with the clusters of another one, and makes its subject.
func delivery(w *world, b *matrix.Broken) {
	b.Match.Namespace = w.Namespace
	if short := clusterOf[b.Name]; short != "" {
		b.Match.Namespace = w.fleet.Name(short)
		b.Match.Names = []string{w.identity("cm").WorkName(), w.identity("new").WorkName()}
	}
	b.All = b.Match

	// A cluster that is to lose the object keeps it during the fault: a write that comes before did not succeed.
	kept := []string{"c001"}
	if b.Name != finalizing && b.Fault != faults.Lost {
		kept = append(kept, "c002")
	}

	b.Subject = &matrix.Subject{
		Settle: func(ctx context.Context) { w.expectDelivered(ctx, "cm", "c001", "c002") },
		Change: func(ctx context.Context) {
			w.edit(ctx, func(cm *corev1.ConfigMap) { cm.Data["key"] = "other" })
			w.configMap(ctx, "new", selecting(wave, "aboard"))
		},
		Holds: func(_ context.Context, g Gomega) { w.keep(g, kept...) },
		Arrives: func(ctx context.Context) {
			w.expectDelivered(ctx, "cm", "c001", "c003")
			w.expectDelivered(ctx, "new", "c001", "c003")
		},
	}
}

var _ = Describe("Requests that fail", Ordered, ContinueOnFailure, func() {
	var (
		shared *world   // has the clusters
		rows   []*world // the worlds of all rows
	)
	underTest.Behind()

	underTest.Requests("law 6: withdraw nothing, are not tried too often, and are carried out as soon as they can be",
		"law 5: no cluster that stays has lost a work, and each object has gained before it lost",
		&matrix.Requests{
			Kinds: requests,
			Share: func(ctx context.Context) {
				shared, rows = newWorld(ctx), nil
				shared.members(ctx, "set", 1, 3, func(i int) string { return []string{"", "aboard", "aboard", "ashore"}[i] })
				shared.record(ctx)
			},
			New: func(ctx context.Context, b *matrix.Broken) {
				w := shared.another(ctx)
				w.configMap(ctx, "cm", selecting(wave, "aboard"))
				delivery(w, b)
				rows = append(rows, w)
			},
			Settled: func() {
				for _, w := range rows {
					w.mark = w.history.Mark()
				}
			},
			Change: func(ctx context.Context) {
				shared.relabel(ctx, wave, "aboard", "c003")
				shared.relabel(ctx, wave, "ashore", "c002")
			},
			Finally: func(ctx context.Context) {
				for _, w := range rows {
					w.expectOrder(ctx)
				}
			},
		})
})
