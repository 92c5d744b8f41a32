// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// BenchmarkDecide decides on one more request in a world of 2,000 shared Clusters, of which half are full, and on a request that is granted.
func BenchmarkDecide(b *testing.B) {
	const clusters = 2000
	catalog := NewCatalog(Options{})
	catalog.SetClusterProvider(gardener())
	catalog.SetPurpose(&openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: "workload"}, Spec: openmcpv1alpha1.PurposeSpec{TenancyLimit: 20}})
	w := &world{Catalog: catalog}
	for i := range clusters {
		w.cluster(fmt.Sprintf("c%04d", i), "workload", func(c *openmcpv1alpha1.Cluster) {
			entries := map[types.UID]string{}
			for j := range 10 + 10*(i%2) {
				uid := fmt.Sprintf("u-%d-%d", i, j)
				withRequests(uid)(c)
				entries[types.UID(uid)] = derivePrefix(types.UID(uid), 0)
			}
			setPrefixes(c, entries)
		})
	}
	chosen, granted := w.request("workload", nil), w.request("workload", nil)
	w.write(catalog.Decide(granted, now))
	for name, request := range map[string]*openmcpv1alpha1.ClusterRequest{"Chosen": chosen, "Kept": granted} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if decision := catalog.Decide(request, now); string(decision.Outcome) != name {
					b.Fatalf("%s", decision.Outcome)
				}
			}
		})
	}
}
