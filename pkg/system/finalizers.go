// SPDX-License-Identifier: Apache-2.0

package system

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

// federationFinalizers returns the finalizer of delivered objects.
func federationFinalizers() []systems.Finalizer {
	return []systems.Finalizer{{
		Name:  federation.Finalizer,
		Waits: "until the ManifestWorks of the object are gone, and with them its copies in the clusters",
		Left:  "The ManifestWorks stay, and the agents of the clusters keep the copies.",
		Remains: func(list systems.List) func(*unstructured.Unstructured) []string {
			works := list(schema.GroupVersion(workv1.GroupVersion).WithResource("manifestworks"), federation.ManagedLabel+"=true")
			names := namesByAnnotation("ManifestWork", works, federation.ObjectAnnotation)
			return func(object *unstructured.Unstructured) []string {
				identity := federation.Identity{
					NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()},
					Kind:           federation.FederatedKind{GroupVersionKind: object.GroupVersionKind()},
				}
				return names[identity.String()]
			}
		},
	}}
}

// classFinalizers returns the finalizer of AffinityClasses.
func classFinalizers() []systems.Finalizer {
	return []systems.Finalizer{{
		Name: cozystackv1alpha1.InUseFinalizer, Resource: classes,
		Waits: "until no application, HelmRelease or Tenant names the class",
		Left:  "Applications keep the class that they name, and its node selector in their HelmReleases, and nothing verifies their Pods.",
	}}
}

// requestFinalizers returns the finalizers of ClusterRequests, Clusters and AccessRequests. The controllers add some of them, and the providers of
// clusters the others.
func requestFinalizers() []systems.Finalizer {
	return []systems.Finalizer{
		{
			Name: openmcpv1alpha1.RequestFinalizer, Resource: requestResource("clusterrequests"),
			Waits: "until the request has left its Cluster",
			Left:  "The Cluster goes on as if the request were still there.",
		},
		{
			Name: openmcpv1alpha1.RequestFinalizerPrefix, Prefix: true, Resource: requestResource("clusters"),
			Waits:   "until the ClusterRequest with that UID has left the Cluster",
			Left:    "The ClusterRequests still say that they have the Cluster.",
			Remains: requestsOf,
		},
		{
			Name: openmcpv1alpha1.ProviderFinalizer, Resource: requestResource("clusters"),
			Waits: "until the provider has removed the real cluster",
			Left:  "The real cluster goes on running, and whoever pays for it goes on paying: remove it at its provider.",
			Remains: withoutList(func(object *unstructured.Unstructured) []string {
				return []string{"the cluster of ClusterProvider " + strconv.Quote(textAt(object, "spec", "clusterProviderRef", "name"))}
			}),
		},
		{
			Name: openmcpv1alpha1.InventoryFinalizer, Resource: requestResource("clusters"),
			Waits: "until the ManagedCluster of the Cluster is drained and deleted",
			Left:  "The ManagedCluster stays with its namespace, and Placements go on selecting it.",
			Remains: func(list systems.List) func(*unstructured.Unstructured) []string {
				names := namesByAnnotation("ManagedCluster", list(clusters, ""), openmcpv1alpha1.ClusterAnnotation)
				return func(object *unstructured.Unstructured) []string {
					return names[object.GetNamespace()+"/"+object.GetName()]
				}
			},
		},
		{
			Name: openmcpv1alpha1.AccessFinalizer, Resource: requestResource("accessrequests"),
			Waits: "until the provider has removed what it made on the cluster for the AccessRequest",
			Left:  "The ServiceAccount and the roles on the cluster stay, and the token in the Secret works until it expires.",
			Remains: withoutList(func(object *unstructured.Unstructured) []string {
				secret := textAt(object, "status", "secretRef", "name")
				if secret == "" {
					return nil
				}
				return []string{"Secret " + object.GetNamespace() + "/" + secret}
			}),
		},
	}
}

// requestsOf names the ClusterRequests that finalizers of a Cluster name by their UIDs.
func requestsOf(list systems.List) func(*unstructured.Unstructured) []string {
	byUID := map[string]string{}
	for _, request := range list(requestResource("clusterrequests"), "") {
		byUID[string(request.UID)] = request.Namespace + "/" + request.Name
	}
	return func(cluster *unstructured.Unstructured) []string {
		var names []string
		for _, finalizer := range cluster.GetFinalizers() {
			uid, isRequest := strings.CutPrefix(finalizer, openmcpv1alpha1.RequestFinalizerPrefix)
			name, found := byUID[uid]
			switch {
			case !isRequest:
			case found:
				names = append(names, "ClusterRequest "+name)
			default:
				names = append(names, "a ClusterRequest that is gone, UID "+uid)
			}
		}
		return names
	}
}

// withoutList is for a finalizer whose objects themselves say what stays.
func withoutList(remains func(*unstructured.Unstructured) []string) func(systems.List) func(*unstructured.Unstructured) []string {
	return func(systems.List) func(*unstructured.Unstructured) []string { return remains }
}

// textAt returns a field of an object; empty if it is absent or no text.
func textAt(object *unstructured.Unstructured, fields ...string) string {
	text, found, err := unstructured.NestedString(object.Object, fields...)
	if !found || err != nil {
		return ""
	}
	return text
}

// namesByAnnotation returns the kind and name of each object that has an annotation, by its value.
func namesByAnnotation(kind string, objects []metav1.PartialObjectMetadata, annotation string) map[string][]string {
	names := map[string][]string{}
	for i := range objects {
		value, found := objects[i].Annotations[annotation]
		if !found {
			continue
		}
		name := objects[i].Name
		if objects[i].Namespace != "" {
			name = objects[i].Namespace + "/" + name
		}
		names[value] = append(names[value], kind+" "+name)
	}
	return names
}
