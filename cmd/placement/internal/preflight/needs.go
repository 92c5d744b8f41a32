package preflight

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/pkg/controller/clusterset"
	"github.com/placement-hub/placement-hub/pkg/controller/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/controller/webhookconfig"
	"github.com/placement-hub/placement-hub/pkg/scope"
)

// need is a set of prerequisites of some controllers.
type need struct {
	// controllers are the controllers with these prerequisites.
	controllers []string
	// reads are the resources that are listed and watched: without one of them the caches would never sync.
	reads []schema.GroupVersionResource
	// writes are the rights to write, and to get by name.
	writes []right
	// hint says what to do when a resource is not served.
	hint string
}

const (
	placement             = "placement"
	placementV1alpha1     = "placement-v1alpha1"
	clusterSet            = "clusterset"
	clusterSetBinding     = "clustersetbinding"
	clusterSetBindingRBAC = "clustersetbinding-rbac"
	clusterSetRoles       = "clusterset-roles"
	managedClusterTaints  = "managedcluster-taints"
	vocabulary            = "vocabulary"
)

// The verbs for what is made, and for what is read by its name.
const (
	create = "create"
	get    = "get"
)

const applyDefinitions = "apply the CustomResourceDefinitions in manifests/crds, or those of Open Cluster Management v1.3"

var allNeeds = []need{
	{
		controllers: []string{placement, placementV1alpha1, clusterSet, clusterSetBinding, managedClusterTaints, vocabulary},
		hint:        applyDefinitions,
		reads:       []schema.GroupVersionResource{resource(clusterv1.GroupVersion.Version, "managedclusters")},
	},
	{
		controllers: []string{placement, placementV1alpha1, clusterSet, clusterSetBinding, clusterSetBindingRBAC, vocabulary}, hint: applyDefinitions,
		reads: []schema.GroupVersionResource{
			resource(clusterv1beta2.GroupVersion.Version, "managedclustersets"),
			resource(clusterv1beta2.GroupVersion.Version, "managedclustersetbindings"),
		},
	},
	{
		controllers: []string{placement, placementV1alpha1}, hint: applyDefinitions,
		reads: []schema.GroupVersionResource{resource(clusterv1alpha1.GroupVersion.Version, "addonplacementscores")},
	},
	{ // What decides about clusters that leave is read once more.
		controllers: []string{placement, placementV1alpha1},
		writes:      append(write(clusterv1.GroupName, "managedclusters", get), write(clusterv1.GroupName, "managedclustersets", get)...),
	},
	{
		controllers: []string{placement}, hint: applyDefinitions,
		reads: []schema.GroupVersionResource{
			resource(clusterv1beta1.GroupVersion.Version, "placements"), resource(clusterv1beta1.GroupVersion.Version, "placementdecisions"),
		},
		writes: append(writeAll(clusterv1.GroupName, "placementdecisions"),
			patchStatus(clusterv1.GroupName, "placementdecisions"), patchStatus(clusterv1.GroupName, "placements"),
			right{verb: get, group: clusterv1.GroupName, resource: "placements"}),
	},
	{
		controllers: []string{placementV1alpha1},
		hint:        "apply the CustomResourceDefinitions in manifests/crds, or leave the controller placement-v1alpha1 off",
		reads: []schema.GroupVersionResource{
			placementv1alpha1.GroupVersion.WithResource("placements"), placementv1alpha1.GroupVersion.WithResource("placementdecisions"),
		},
		writes: append(writeAll(placementv1alpha1.GroupName, "placementdecisions"), patchStatus(placementv1alpha1.GroupName, "placements"),
			right{verb: get, group: placementv1alpha1.GroupName, resource: "placements"}),
	},
	{
		controllers: []string{clusterSet},
		writes: append(write(clusterv1.GroupName, "managedclustersets", create, "update"),
			patchStatus(clusterv1.GroupName, "managedclustersets")),
	},
	{controllers: []string{clusterSetBinding}, writes: []right{patchStatus(clusterv1.GroupName, "managedclustersetbindings")}},
	{
		controllers: []string{clusterSetBindingRBAC},
		hint:        "let the API server serve rbac.authorization.k8s.io/v1, or leave the controller clustersetbinding-rbac off",
		reads: []schema.GroupVersionResource{
			rbacv1.SchemeGroupVersion.WithResource("clusterroles"), rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"),
			corev1.SchemeGroupVersion.WithResource("namespaces"),
		},
		writes: append(write(clusterv1.GroupName, "managedclustersetbindings", create, "update", "delete"),
			right{verb: create, group: clusterv1.GroupName, resource: "managedclustersets", subresource: "bind"},
			right{verb: create, group: "authorization.k8s.io", resource: "subjectaccessreviews"},
			right{verb: "list", resource: "serviceaccounts", name: scope.Account}, // They are followed by their name alone.
			right{verb: "watch", resource: "serviceaccounts", name: scope.Account}),
	},
	{
		controllers: []string{clusterSetRoles}, hint: applyDefinitions,
		reads: []schema.GroupVersionResource{
			resource(clusterv1beta2.GroupVersion.Version, "managedclustersets"), rbacv1.SchemeGroupVersion.WithResource("clusterroles"),
		},
		writes: setRoles(),
	},
	{
		controllers: []string{managedClusterTaints},
		writes:      []right{{verb: "patch", group: clusterv1.GroupName, resource: "managedclusters"}},
	},
}

// profileDecisions are the prerequisites of --sig-placement-decisions.
var profileDecisions = need{
	reads: []schema.GroupVersionResource{
		clusterinventory.GroupVersion.WithResource("clusterprofiles"), clusterinventory.GroupVersion.WithResource("placementdecisions"),
	},
	writes: writeAll(clusterinventory.Group, "placementdecisions"),
	hint:   "apply the CustomResourceDefinitions in manifests/multicluster, or leave --sig-placement-decisions off",
}

func resource(version, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: clusterv1.GroupName, Version: version, Resource: name}
}

// patchStatus is the right to write the status of a resource.
func patchStatus(group, resource string) right {
	return right{verb: "patch", group: group, resource: resource, subresource: "status"}
}

func writeAll(group, resource string) []right {
	return write(group, resource, create, "patch", "delete")
}

func write(group, resource string, verbs ...string) []right {
	rights := make([]right, 0, len(verbs))
	for _, verb := range verbs {
		rights = append(rights, right{verb: verb, group: group, resource: resource})
	}
	return rights
}

// setRoles returns the rights of the controller "clusterset-roles": to write roles, and all rights that these roles grant.
func setRoles() []right {
	rights := write(rbacv1.GroupName, "clusterroles", create, "update")
	for _, rule := range clusterset.GrantedByRoles() {
		for _, resource := range rule.Resources {
			name, subresource, _ := strings.Cut(resource, "/")
			for _, verb := range rule.Verbs {
				held := right{verb: verb, group: rule.APIGroups[0], resource: name, subresource: subresource}
				if !slices.Contains(rights, held) {
					rights = append(rights, held)
				}
			}
		}
	}
	return rights
}

// keeping returns the rights to keep one object of a namespace, which is watched by its name.
func keeping(resource, name, namespace string) need {
	named := right{resource: resource, name: name, namespace: namespace}
	list, watch, update := named, named, named
	list.verb, watch.verb, update.verb = "list", "watch", "update"
	return need{writes: []right{list, watch, update, {verb: create, resource: resource, namespace: namespace}}}
}

// defaultsOf returns the prerequisites of the controller "managedcluster-defaults". Its webhook configurations may be missing.
func defaultsOf(namespace string) need {
	needed := keeping("secrets", webhookconfig.Secret, namespace)
	for _, resource := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
		for _, verb := range []string{"list", "watch", "patch"} {
			needed.writes = append(needed.writes,
				right{verb: verb, group: admissionregistrationv1.GroupName, resource: resource, name: webhookconfig.Configuration})
		}
	}
	needed.writes = append(needed.writes, right{verb: "get", resource: "namespaces"})
	return needed
}

// needsOf returns the prerequisites of the enabled controllers.
func needsOf(enabled []string, o controller.Options) []need {
	needs := slices.DeleteFunc(slices.Clone(allNeeds), func(need need) bool {
		return !slices.ContainsFunc(need.controllers, func(name string) bool { return slices.Contains(enabled, name) })
	})
	if slices.Contains(enabled, vocabulary) {
		needs = append(needs, keeping("configmaps", managedcluster.VocabularyConfigMap, o.Namespace))
	}
	if slices.Contains(enabled, webhookconfig.Defaults) {
		needs = append(needs, defaultsOf(o.Namespace))
	}
	if o.ProfileDecisions {
		needs = append(needs, profileDecisions)
	}
	return needs
}

// observersOf returns the prerequisites of a read-only process that authenticates and authorizes callers.
func observersOf(needs []need) []need {
	for i := range needs {
		needs[i].writes = nil
	}
	return append(needs, need{writes: []right{
		{verb: create, group: "authentication.k8s.io", resource: "tokenreviews"},
		{verb: create, group: "authorization.k8s.io", resource: "subjectaccessreviews"},
	}})
}

// requiredRights returns the rights to sync the caches, to write, and to hold the lease.
func requiredRights(needs []need, lease election.Options) []right {
	var rights []right
	for _, need := range needs {
		for _, verb := range []string{"list", "watch"} {
			for _, r := range need.reads {
				rights = append(rights, right{verb: verb, group: r.Group, resource: r.Resource})
			}
		}
		rights = append(rights, need.writes...)
	}
	if !lease.Disable {
		for _, verb := range []string{"get", create, "update"} {
			rights = append(rights, right{verb: verb, group: "coordination.k8s.io", resource: "leases", namespace: lease.Namespace})
		}
	}
	return rights
}
