// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ExpectOwnWritesKnown calls the steps and demands that the writes of the hub in each of them enqueue no placement. Nobody else may write
// decisions meanwhile.
func (f *Fixture) ExpectOwnWritesKnown(ctx context.Context, steps ...func()) {
	GinkgoHelper()
	f.AwaitNoOtherDecisions(ctx)
	f.AwaitIdle(ctx)
	before := enqueuesByDecisions(Default)
	for i, step := range steps {
		step()
		f.AwaitIdle(ctx)
		Expect(enqueuesByDecisions(Default)-before).To(BeZero(), "step %d", i)
	}
}

// Regroupings returns steps for ExpectOwnWritesKnown after which the hub creates, repairs, fills and deletes pages of the placements "p", "q"
// and "r" of 330 clusters.
func (f *Fixture) Regroupings(ctx context.Context) []func() {
	relabel := func(first, last int, group string) func() {
		return func() {
			GinkgoHelper()
			Expect(Each(ctx, last-first+1, func(ctx context.Context, i int) error {
				patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{"group":%q}}}`, group))
				cluster := &clusterv1.ManagedCluster{}
				cluster.Name = f.Name(fmt.Sprintf("c%03d", first+i))
				return Client.Patch(ctx, cluster, patch)
			})).To(Succeed())
		}
	}
	length := func(clusters int) func() {
		return func() {
			f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.DecisionStrategy = CanaryStrategy(clusters, true) })
		}
	}
	wanted := func(clusters int32) func() {
		return func() {
			for _, name := range []string{"q", "r"} {
				f.EditPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To(clusters) })
			}
		}
	}

	// restless changes groups on and on, so that placements are evaluated again before all that was written has come back.
	restless := func() {
		for turn := range 6 {
			relabel(1+10*turn, 200+10*turn, []string{"canary", "rest"}[turn%2])()
		}
	}
	return []func(){
		restless, relabel(1, 40, "canary"), wanted(120), length(30), relabel(41, 150, "canary"), wanted(310), length(7),
		restless, relabel(20, 120, "rest"), wanted(99), length(90), relabel(1, 150, "canary"), wanted(0), length(11),
		restless, relabel(1, 150, "rest"), wanted(201), length(100),
	}
}
