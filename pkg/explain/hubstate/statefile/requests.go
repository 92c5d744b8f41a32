package statefile

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
)

// requestStores has the kinds of State.ClusterRequests.
func requestStores() map[schema.GroupVersionKind]store {
	kind := openmcpv1alpha1.GroupVersion.WithKind

	return map[schema.GroupVersionKind]store{
		kind("ClusterRequest"): into(func(w *explain.State) *[]*openmcpv1alpha1.ClusterRequest { return &w.ClusterRequests.Requests }),
		kind("ClusterRequestGrant"): into(func(w *explain.State) *[]*openmcpv1alpha1.ClusterRequestGrant {
			return &w.ClusterRequests.Grants
		}),
		kind("Cluster"):         into(func(w *explain.State) *[]*openmcpv1alpha1.Cluster { return &w.ClusterRequests.Clusters }),
		kind("ClusterProvider"): into(func(w *explain.State) *[]*openmcpv1alpha1.ClusterProvider { return &w.ClusterRequests.Providers }),
		kind("Purpose"):         into(func(w *explain.State) *[]*openmcpv1alpha1.Purpose { return &w.ClusterRequests.Purposes }),
		kind("TraitEquivalence"): into(func(w *explain.State) *[]*openmcpv1alpha1.TraitEquivalence {
			return &w.ClusterRequests.Equivalences
		}),
	}
}
