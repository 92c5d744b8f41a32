package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
)

// Access is what a controller needs on the hub.
type Access struct {
	// Reads are the resources that the controller lists and watches everywhere: without one of them its caches never sync.
	Reads []schema.GroupVersionResource
	// Rules are the rules of manifests/rbac that the controller needs beyond Reads.
	Rules []Rules
}

// Rules are rules of one role of the manifests.
type Rules struct {
	// Role is the name of a ClusterRole, a Role or both, without the prefix open-cluster-management:placement-hub:.
	Role string
	// Resources are the resources of the rules, such as "placements/status". Empty means every rule of the role.
	Resources []string
}

var (
	clusters     = clusterResource(clusterv1.GroupVersion.Version, "managedclusters")
	sets         = clusterResource(clusterv1beta2.GroupVersion.Version, "managedclustersets")
	bindings     = clusterResource(clusterv1beta2.GroupVersion.Version, "managedclustersetbindings")
	scores       = clusterResource(clusterv1alpha1.GroupVersion.Version, "addonplacementscores")
	clusterRoles = rbacv1.SchemeGroupVersion.WithResource("clusterroles")

	placementAccess = Access{
		Reads: []schema.GroupVersionResource{
			clusters, sets, bindings, scores,
			clusterResource(clusterv1beta1.GroupVersion.Version, "placements"),
			clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions"),
		},
		// The role also has what the controller runs without: events, finalizers, and reviews of those who ask for metrics.
		Rules: []Rules{{Role: "placement", Resources: []string{
			clusters.Resource, sets.Resource, "placementdecisions", "placementdecisions/status", "placements", "placements/status",
		}}},
	}
	placementV1alpha1Access = Access{
		Reads: []schema.GroupVersionResource{
			clusters, sets, bindings, scores,
			placementv1alpha1.GroupVersion.WithResource("placements"), placementv1alpha1.GroupVersion.WithResource("placementdecisions"),
		},
		Rules: []Rules{
			{Role: "placement", Resources: []string{clusters.Resource, sets.Resource}},
			{Role: "placement-v1alpha1", Resources: []string{"placementdecisions", "placements", "placements/status"}},
		},
	}
	clusterSetAccess = Access{
		Reads: []schema.GroupVersionResource{clusters, sets, bindings},
		Rules: []Rules{{Role: "sets", Resources: []string{sets.Resource, sets.Resource + "/status"}}},
	}
	clusterSetBindingAccess = Access{
		Reads: []schema.GroupVersionResource{clusters, sets, bindings},
		Rules: []Rules{{Role: "sets", Resources: []string{bindings.Resource + "/status"}}},
	}
	clusterSetBindingRBACAccess = Access{
		Reads: []schema.GroupVersionResource{
			sets, bindings, clusterRoles, rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"),
			corev1.SchemeGroupVersion.WithResource("namespaces"),
		},
		Rules: []Rules{{Role: "clustersetbinding-rbac"}},
	}
	clusterSetRolesAccess = Access{
		Reads: []schema.GroupVersionResource{sets, clusterRoles},
		Rules: []Rules{{Role: "clusterset-roles"}},
	}
	managedClusterTaintsAccess = Access{
		Reads: []schema.GroupVersionResource{clusters}, Rules: []Rules{{Role: "managedcluster-taints"}},
	}
	// The webhook configurations and the Secret are watched by their names, and may be missing.
	managedClusterDefaultsAccess = Access{Rules: []Rules{{Role: "managedcluster-defaults"}}}
	vocabularyAccess             = Access{
		Reads: []schema.GroupVersionResource{clusters, sets, bindings}, Rules: []Rules{{Role: "vocabulary"}},
	}
	// profileDecisionsAccess is what Options.ProfileDecisions takes beyond the access of the controllers.
	profileDecisionsAccess = Access{
		Reads: []schema.GroupVersionResource{
			clusterinventory.GroupVersion.WithResource("clusterprofiles"), clusterinventory.GroupVersion.WithResource("placementdecisions"),
		},
		Rules: []Rules{{Role: "multicluster"}},
	}
)

// Access returns what the enabled controllers need on the hub, each resource to read once. It returns an error if Controllers is invalid.
func (o Options) Access() (Access, error) {
	enabled, err := o.Enabled()
	if err != nil {
		return Access{}, err
	}

	var all Access

	for _, controller := range o.all(enabled) {
		if slices.Contains(enabled, controller.name) {
			all.add(controller.access)
		}
	}

	if o.ProfileDecisions {
		all.add(profileDecisionsAccess)
	}

	return all, nil
}

// add adds the access of another controller.
func (a *Access) add(other Access) {
	for _, resource := range other.Reads {
		if !slices.Contains(a.Reads, resource) {
			a.Reads = append(a.Reads, resource)
		}
	}

	a.Rules = append(a.Rules, other.Rules...)
}

func clusterResource(version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: clusterv1.GroupName, Version: version, Resource: resource}
}
