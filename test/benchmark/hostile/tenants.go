// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
)

const (
	// Others is the number of tenants that are measured, counted from 0.
	Others = 15
	// Attacker is the tenant that is hostile.
	Attacker = Others
	// Bystander is a tenant that sends the same requests about objects that concern the hub in nothing, so
	// that the API server has the same work.
	Bystander = Others + 1
	// Accounts is the number of ServiceAccounts of the hostile tenant that attack the pages and explanations of the hub.
	Accounts = 200
	// ReaderName is the ServiceAccount of Reader.
	ReaderName = "reader"
	// Clusters is the number of clusters, which all tenants may use.
	Clusters = 1000
	// Purpose is what all ClusterRequests are for.
	Purpose = "shared"
	// further is the number of Placements of each tenant beside the one that is edited.
	further = 6
)

// sideLabel is on namespaces; the webhooks of policies leave those out that have the value kube-system.
const sideLabel = "role"

// Size returns the fleet that the tenants share.
func Size() fleet.Size { return fleet.Size{Clusters: Clusters, Placements: 100} }

// NamespaceName returns the name of the namespace of a tenant, and that of its user.
func NamespaceName(tenant int) string { return fmt.Sprintf("tenant-%02d", tenant) }

// Namespace returns the namespace of a tenant.
func Namespace(tenant int) *corev1.Namespace {
	side := "tenant"
	if tenant == Bystander {
		side = "kube-system"
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: NamespaceName(tenant), Labels: map[string]string{sideLabel: side}}}
}

func in(tenant int, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: NamespaceName(tenant), Name: name}
}

// Account returns the ServiceAccount of the Pods of a tenant.
func Account(tenant int) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: in(tenant, "default")}
}

// Rights returns what the user of a tenant may do: the shipped roles, and what Kubernetes permits an editor.
func Rights(tenant int) []*rbacv1.RoleBinding {
	const hub = "open-cluster-management:placement-hub:"
	roles := []string{
		"system:aggregate-to-edit", hub + "edit", hub + "podscheduling-admin", hub + "clusterrequest-edit", hub + "clusterrequest-purposes",
	}
	bindings := make([]*rbacv1.RoleBinding, 0, len(roles))
	for i, role := range roles {
		bindings = append(bindings, &rbacv1.RoleBinding{
			ObjectMeta: in(tenant, fmt.Sprintf("right-%d", i)),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: NamespaceName(tenant)}},
		})
	}
	return bindings
}

// Reader returns a ServiceAccount of a tenant that reads pages and explanations, with the rights of the tenant.
func Reader(tenant int) []client.Object {
	rights := Rights(tenant)
	objects := append(make([]client.Object, 0, len(rights)+1), &corev1.ServiceAccount{ObjectMeta: in(tenant, ReaderName)})
	for _, right := range rights {
		right.Name = ReaderName + "-" + right.Name
		right.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: NamespaceName(tenant), Name: ReaderName}}
		objects = append(objects, right)
	}
	return objects
}

// Binding binds the namespace of a tenant to a set.
func Binding(tenant int, set string) *clusterv1beta2.ManagedClusterSetBinding {
	return &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: in(tenant, set), Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}
}

// Further returns the Placements of a tenant that are not edited: ordinary ones of a fleet.
func Further(tenant int) []*clusterv1beta1.Placement {
	placements := make([]*clusterv1beta1.Placement, 0, further)
	for i := range further {
		placement := Size().Placement(fleet.Concerned + tenant*further + i)
		placement.Namespace = NamespaceName(tenant)
		placements = append(placements, placement)
	}
	return placements
}

// Placement returns the Placement of a tenant that is edited, as it is after n edits: those of even tenants gain and lose a cell of
// clusters, and those of odd ones, for which the decisions of all others count, one cluster.
func Placement(tenant, n int) *clusterv1beta1.Placement {
	placement := &clusterv1beta1.Placement{ObjectMeta: in(tenant, "edited")}
	requirement := metav1.LabelSelectorRequirement{
		Key: "cell", Operator: metav1.LabelSelectorOpIn, Values: []string{fmt.Sprintf("cell-%d", tenant), "cell-30"}[:1+n%2],
	}
	if tenant%2 == 1 {
		requirement = metav1.LabelSelectorRequirement{Key: "env", Operator: metav1.LabelSelectorOpIn, Values: []string{"prod"}}
		placement.Spec.NumberOfClusters = ptr.To(int32(5 + n%2))
	}
	placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{requirement}},
	}}}
	return placement
}

// Policy returns the policy of a tenant, which adds a toleration to all its Pods.
func Policy(tenant int) *kupidv1alpha1.PodSchedulingPolicy {
	policy := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: in(tenant, "databases")}
	policy.Spec.PodSelector = &metav1.LabelSelector{}
	policy.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	return policy
}

// Pod returns a Pod of a tenant.
func Pod(tenant, n int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: in(tenant, fmt.Sprintf("database-%06d", n)),
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/database:1"}}},
	}
}

// Injected reports whether a Pod has what Policy adds.
func Injected(pod *corev1.Pod) bool {
	for _, toleration := range pod.Spec.Tolerations {
		if toleration.Key == "dedicated" {
			return true
		}
	}
	return false
}

// Request returns a ClusterRequest of a tenant.
func Request(tenant, n int) *openmcpv1alpha1.ClusterRequest {
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: in(tenant, fmt.Sprintf("request-%06d", n))}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{Purpose}
	return request
}
