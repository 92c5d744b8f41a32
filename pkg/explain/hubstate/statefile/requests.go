package statefile

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
)

// requestStores has the kinds of State.ClusterRequests.
func requestStores() map[schema.GroupVersionKind]store {
	return map[schema.GroupVersionKind]store{
		requestKind: into(func(w *explain.State) *[]*openmcpv1alpha1.ClusterRequest { return &w.ClusterRequests.Requests }),
		openmcpv1alpha1.GroupVersion.WithKind("ClusterRequestGrant"): into(func(w *explain.State) *[]*openmcpv1alpha1.ClusterRequestGrant {
			return &w.ClusterRequests.Grants
		}),
		clusterKind:  into(func(w *explain.State) *[]*openmcpv1alpha1.Cluster { return &w.ClusterRequests.Clusters }),
		providerKind: into(func(w *explain.State) *[]*openmcpv1alpha1.ClusterProvider { return &w.ClusterRequests.Providers }),
		purposeKind:  into(func(w *explain.State) *[]*openmcpv1alpha1.Purpose { return &w.ClusterRequests.Purposes }),
		equivalenceKind: into(func(w *explain.State) *[]*openmcpv1alpha1.TraitEquivalence {
			return &w.ClusterRequests.Equivalences
		}),
	}
}
