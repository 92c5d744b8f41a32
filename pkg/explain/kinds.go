// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// The consequences of kinds that are not there.
const (
	noPolicies = "no policy of this kind is in the report"
	noWorks    = "the report does not say where objects are applied, nor what is to be written"
)

// kinds is the table of the kinds, in the order in which a State names and applies objects.
var kinds = slices.Concat(placementKinds(), podKinds(), deliveredKinds, requestKinds, ignoredKinds())

// newKind returns a kind with a type of its own, and the list of a State that has its objects.
func newKind[T any, P interface {
	*T
	api.Object
}](version schema.GroupVersion, kind *Kind, of func(*State) *[]P) *Kind {
	kind.GroupVersionKind, kind.Type = version.WithKind(reflect.TypeFor[T]().Name()), P(new(T))
	kind.lists = []list{newList(kind.Concerns|kind.Reads, of)}
	return kind
}

// placementKinds are the kinds that decide about Placements, and their decisions.
func placementKinds() []*Kind {
	kinds := []*Kind{ //nolint:prealloc // The list is to be read.
		newKind(schema.GroupVersion(clusterv1.GroupVersion), &Kind{
			Concerns: OfPlacements, Reads: OfPlacements | OfDelivery, InAdd: true,
		}, func(s *State) *[]*clusterv1.ManagedCluster { return &s.Clusters }),
		newKind(schema.GroupVersion(clusterv1beta2.GroupVersion), &Kind{
			Concerns: OfPlacements | OfDelivery, Reads: OfPlacements | OfDelivery, InDiff: true,
		}, func(s *State) *[]*clusterv1beta2.ManagedClusterSet { return &s.ClusterSets }),
		newKind(schema.GroupVersion(clusterv1alpha1.GroupVersion), &Kind{
			Concerns: OfPlacements, Namespaced: true, Reads: OfPlacements, InAdd: true,
		}, func(s *State) *[]*clusterv1alpha1.AddOnPlacementScore { return &s.Scores }),
		newKind(schema.GroupVersion(clusterv1beta2.GroupVersion), &Kind{
			Concerns: OfPlacements | OfDelivery, Namespaced: true, Reads: OfPlacements | OfDelivery, Limited: OfPlacements | OfDelivery,
			InDiff: true,
		}, func(s *State) *[]*clusterv1beta2.ManagedClusterSetBinding { return &s.Bindings }),
		newKind(rbacv1.SchemeGroupVersion, &Kind{
			Concerns: OfPlacements, Definition: BuiltIn, NameRule: pathSegment, Check: checkRules,
		}, func(s *State) *[]*rbacv1.ClusterRole { return &s.ClusterRoles }),
		newKind(rbacv1.SchemeGroupVersion, &Kind{
			Concerns: OfPlacements, Definition: BuiltIn, NameRule: pathSegment, Check: checkGrant,
		}, func(s *State) *[]*rbacv1.ClusterRoleBinding { return &s.ClusterRoleBindings }),
		newKind(corev1.SchemeGroupVersion, &Kind{
			Concerns: OfPlacements, Definition: BuiltIn, Namespaced: true,
		}, func(s *State) *[]*corev1.ServiceAccount { return &s.Accounts }),
	}

	placements := newList(OfPlacements|OfDelivery, func(s *State) *[]api.Object { return &s.Placements })
	decisions := newList(OfPlacements|OfDelivery, func(s *State) *[]api.Object { return &s.Decisions })
	for _, adapter := range api.Adapters() {
		placement := &Kind{
			GroupVersionKind: adapter.Kind(), Concerns: OfPlacements, Namespaced: true, Type: adapter.Empty(), Reads: OfPlacements,
			Limited: OfPlacements, InDiff: true, lists: []list{placements},
		}
		decision := &Kind{
			GroupVersionKind: adapter.Kind().GroupVersion().WithKind("PlacementDecision"), Concerns: OfPlacements, Namespaced: true,
			Type: adapter.Codec().Empty(), Reads: OfPlacements, lists: []list{decisions},
		}

		if adapter == api.V1beta1 {
			placement.Reads, placement.Limited = OfPlacements|OfDelivery, OfPlacements|OfDelivery
			placement.lists = append(placement.lists, deliveredPlacements{ifDelivered{delivered}})
			decision.Reads, decision.Limited = OfPlacements|OfDelivery, OfDelivery
		} else {
			placement.Plural, decision.Plural = "Placements."+placement.Group, "PlacementDecisions."+placement.Group
		}
		kinds = append(kinds, placement, decision)
	}

	return kinds
}

// podKinds are the kinds that decide where Pods may run.
func podKinds() []*Kind {
	kinds := []*Kind{ //nolint:prealloc // The list is to be read.
		newKind(kupidv1alpha1.GroupVersion, &Kind{
			Concerns: OfPods, Plural: "ClusterPodSchedulingPolicies", Definition: Optional, Reads: OfPods,
			IfMissing: map[Concern]string{OfPods: noPolicies}, InDiff: true, InAdd: true, Admit: admitForPods,
		}, func(s *State) *[]*kupidv1alpha1.ClusterPodSchedulingPolicy { return &s.Pods.ClusterPolicies }),
		newKind(kupidv1alpha1.GroupVersion, &Kind{
			Concerns: OfPods, Plural: "PodSchedulingPolicies", Namespaced: true, Definition: Optional, Reads: OfPods, Limited: OfPods,
			IfMissing: map[Concern]string{OfPods: noPolicies}, InDiff: true, InAdd: true, Admit: admitForPods,
		}, func(s *State) *[]*kupidv1alpha1.PodSchedulingPolicy { return &s.Pods.Policies }),
		newKind(cozystackv1alpha1.GroupVersion, &Kind{
			Concerns: OfPods, Definition: Optional, Reads: OfPods,
			IfMissing: map[Concern]string{OfPods: "AffinityClasses are not in the report"}, InDiff: true, InAdd: true, Admit: admitForPods,
		}, func(s *State) *[]*cozystackv1alpha1.AffinityClass { return &s.Pods.Classes }),
		newKind(appsv1alpha1.GroupVersion, &Kind{
			Concerns: OfPods, Namespaced: true, Open: true, Definition: Optional, Reads: OfPods,
			IfMissing: map[Concern]string{OfPods: "defaults and limits of Tenants are not in the report"}, InDiff: true, InAdd: true,
			Admit: admitForPods,
		}, func(s *State) *[]*appsv1alpha1.Tenant { return &s.Pods.Tenants }),
		{
			GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Concerns: OfPods | OfDelivery, Type: &corev1.Namespace{},
			Definition: BuiltIn, NameRule: metavalidation.NameIsDNSLabel,
			Reads: OfPods | OfDelivery, IfMissing: map[Concern]string{
				OfPods:     "namespaceSelectors are evaluated with the names of the namespaces alone",
				OfDelivery: "whether its objects are delivered is not known",
			}, InDiff: true, InAdd: true,
			Equal: equalNamespaces, lists: namespaces,
		},
		newKind(corev1.SchemeGroupVersion, &Kind{
			Concerns: OfPods, Definition: BuiltIn, Reads: OfPods, IfMissing: map[Concern]string{OfPods: "the report does not say which nodes fit"},
			InAdd: true,
		}, func(s *State) *[]*corev1.Node { return &s.Pods.Nodes }),
		{
			GroupVersionKind: schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}, Concerns: OfPods, Namespaced: true,
			Definition: BuiltIn, Reads: OfPods, Limited: OfPods,
			IfMissing: map[Concern]string{OfPods: "classes of applications are not in the report"}, InAdd: true,
			lists: []list{newList(OfPods, func(s *State) *[]*unstructured.Unstructured { return &s.Pods.Releases })},
		},
		{
			GroupVersionKind: schema.GroupVersionKind{Group: appsv1alpha1.GroupName}, Concerns: OfPods, Namespaced: true,
			Definition: BuiltIn, InAdd: true,
			lists: []list{newList(OfPods, func(s *State) *[]*unstructured.Unstructured { return &s.Pods.Applications })},
		},
	}

	workloads := newList(OfPods, func(s *State) *[]*unstructured.Unstructured { return &s.Pods.Workloads })
	for _, kind := range pods.Kinds() {
		kinds = append(kinds, &Kind{
			GroupVersionKind: kind.GroupVersionKind, Concerns: OfPods, Namespaced: true, Type: workloadTypes[kind.Kind], Untyped: true,
			Definition: BuiltIn, Reads: OfPods, Limited: OfPods | OfDelivery,
			IfMissing: map[Concern]string{OfPods: notReported, OfDelivery: notReported}, InAdd: true,
			lists: []list{workloads, ifDelivered{delivered}},
		})
	}
	return kinds
}

// notReported is the consequence of a kind of objects that are reported.
const notReported = "they are not in the report"

// workloadTypes are the types of the kinds of workloads.
var workloadTypes = map[string]api.Object{
	"Pod": &corev1.Pod{}, "ReplicationController": &corev1.ReplicationController{}, "ReplicaSet": &appsv1.ReplicaSet{},
	"Deployment": &appsv1.Deployment{}, "StatefulSet": &appsv1.StatefulSet{}, "DaemonSet": &appsv1.DaemonSet{},
	"Job": &batchv1.Job{}, "CronJob": &batchv1.CronJob{},
}

// delivered are the objects that are delivered to clusters.
var delivered = newList(OfDelivery, func(s *State) *[]*unstructured.Unstructured { return &s.Federated.Objects })

// deliveredKinds are the kinds that decide about delivery, besides those that decide about Pods too.
var deliveredKinds = []*Kind{
	newKind(schema.GroupVersion(workv1.GroupVersion), &Kind{
		Concerns: OfDelivery, Namespaced: true, Definition: BuiltIn, Reads: OfDelivery, IfMissing: map[Concern]string{OfDelivery: noWorks},
	}, func(s *State) *[]*workv1.ManifestWork { return &s.Federated.Works }),
	newDelivered(corev1.SchemeGroupVersion.WithKind("ConfigMap"), &corev1.ConfigMap{}),
	newDelivered(corev1.SchemeGroupVersion.WithKind("Secret"), &corev1.Secret{}),
	newDelivered(corev1.SchemeGroupVersion.WithKind("Service"), &corev1.Service{}),
	newDelivered(networkingv1.SchemeGroupVersion.WithKind("Ingress"), &networkingv1.Ingress{}),
}

// newDelivered returns a kind that hubs deliver; a nil type means that only its metadata is known.
func newDelivered(gvk schema.GroupVersionKind, of api.Object) *Kind {
	return &Kind{
		GroupVersionKind: gvk, Concerns: OfDelivery, Namespaced: true, Type: of, Untyped: true, Definition: BuiltIn, Limited: OfDelivery,
		IfMissing: map[Concern]string{OfDelivery: notReported}, lists: []list{delivered},
	}
}

// requestKinds are the kinds that decide what ClusterRequests get.
var requestKinds = []*Kind{
	newKind(openmcpv1alpha1.GroupVersion, &Kind{Concerns: OfRequests, Definition: Optional, Reads: OfRequests, InDiff: true, InAdd: true},
		func(s *State) *[]*openmcpv1alpha1.Purpose { return &s.ClusterRequests.Purposes }),
	newKind(openmcpv1alpha1.GroupVersion, &Kind{Concerns: OfRequests, Definition: Optional, Reads: OfRequests, InDiff: true, InAdd: true},
		func(s *State) *[]*openmcpv1alpha1.TraitEquivalence { return &s.ClusterRequests.Equivalences }),
	newKind(openmcpv1alpha1.GroupVersion, &Kind{
		Concerns: OfRequests, Definition: Optional, Reads: OfRequests, InDiff: true, InAdd: true, Preserve: preserveProfiles,
	}, func(s *State) *[]*openmcpv1alpha1.ClusterProvider { return &s.ClusterRequests.Providers }),
	newKind(openmcpv1alpha1.GroupVersion, &Kind{
		Concerns: OfRequests, Namespaced: true, Definition: Optional, Reads: OfRequests, InDiff: true, InAdd: true,
	}, func(s *State) *[]*openmcpv1alpha1.Cluster { return &s.ClusterRequests.Clusters }),
	newKind(openmcpv1alpha1.GroupVersion, &Kind{Concerns: OfRequests, Namespaced: true, Definition: Optional, Reads: OfRequests, InAdd: true},
		func(s *State) *[]*openmcpv1alpha1.ClusterRequestGrant { return &s.ClusterRequests.Grants }),
	newKind(openmcpv1alpha1.GroupVersion, &Kind{
		Concerns: OfRequests, Namespaced: true, Definition: Optional, Reads: OfRequests, InDiff: true, InAdd: true,
	}, func(s *State) *[]*openmcpv1alpha1.ClusterRequest { return &s.ClusterRequests.Requests }),
}

// ignoredKinds decide about nothing: RoleBindings never bind a set, AccessRequests get no Cluster, and what a ProviderConfig offers counts as soon
// as the provider has published it in the status of its ClusterProvider.
func ignoredKinds() []*Kind {
	kinds := make([]*Kind, 0, 5) //nolint:mnd // Those below.
	for _, gvk := range []schema.GroupVersionKind{
		rbacv1.SchemeGroupVersion.WithKind("Role"), rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
		openmcpv1alpha1.GroupVersion.WithKind("AccessRequest"), loopbackv1alpha1.GroupVersion.WithKind("ProviderConfig"),
		apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
	} {
		kinds = append(kinds, &Kind{GroupVersionKind: gvk, Definition: BuiltIn})
	}
	return kinds
}

// Kinds returns the table of the kinds. Callers must not change it.
func Kinds() []*Kind { return kinds }

// FindKind returns the kind of the table that objects of a kind of the API have; nil if there is none.
func FindKind(gvk schema.GroupVersionKind) *Kind {
	// The entries that cover several kinds come last.
	for _, exact := range []bool{true, false} {
		for _, kind := range kinds {
			if kind.is(gvk) && (kind.GroupVersionKind == gvk || !exact) {
				return kind
			}
		}
	}
	return nil
}

// KindOf returns the kind of objects of a kind of the API, which may be one that the hub of the State delivers; nil if the State has none of them.
func (s *State) KindOf(gvk schema.GroupVersionKind) *Kind {
	if kind := FindKind(gvk); kind != nil {
		return kind
	}
	if _, is := s.Federated.KindOf(gvk); is {
		return newDelivered(gvk, nil)
	}
	return nil
}

// Kinds returns the kinds of a State: those of the table, and those that the hub of the State delivers besides.
func (s *State) Kinds() []*Kind {
	all := slices.Clip(kinds)
	for _, kind := range s.Federated.Kinds {
		if FindKind(kind.GroupVersionKind) == nil {
			all = append(all, newDelivered(kind.GroupVersionKind, nil))
		}
	}
	return all
}

// Diffs reports whether placement diff compares the objects of a kind on the hub of the State.
func (s *State) Diffs(kind *Kind) bool {
	_, delivered := s.Federated.KindOf(kind.GroupVersionKind)
	return kind.InDiff || delivered
}
