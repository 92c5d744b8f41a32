// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// writers bounds the requests that Each has under way at a time.
const writers = 16

// Each calls task for 0 to n-1, several at a time, and returns the first error.
func Each(ctx context.Context, n int, task func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range n {
		group.Go(func() error { return task(ctx, i) })
	}
	return group.Wait()
}

// ManyClusters creates the clusters c001 and so on in a set, from the first number to the last, several at a time.
func (f *Fixture) ManyClusters(ctx context.Context, set string, first, last int, edit func(i int, cluster *clusterv1.ManagedCluster)) {
	GinkgoHelper()

	Expect(Each(ctx, last-first+1, func(ctx context.Context, i int) error {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name:   f.Name(fmt.Sprintf("c%03d", first+i)),
			Labels: map[string]string{FixtureLabel: f.Namespace, clusterv1beta2.ClusterSetLabel: f.Name(set)},
		}}
		edit(first+i, cluster)
		if err := Client.Create(ctx, cluster); err != nil {
			return fmt.Errorf("creating ManagedCluster %s: %w", cluster.Name, err)
		}
		return nil
	})).To(Succeed())
}
