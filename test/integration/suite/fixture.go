// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// FixtureLabel is the label of cluster-scoped objects that names the namespace of their fixture.
const FixtureLabel = "fixture"

// AdmissionLabel with the value "off" exempts a namespace from the admission policies.
const AdmissionLabel = "placement-hub.open-cluster-management.io/admission"

// fixtures counts the fixtures of this process.
var fixtures atomic.Int64

// Fixture is a namespace with sets and clusters of its own, whose names begin with the name of the namespace. Specs share a control plane
// and a hub, and no fixtures.
type Fixture struct {
	// Namespace is unique in the process, and short.
	Namespace string
}

// NewFixture creates the namespace, as changed by the edits. After the spec or container, the objects by which the hub acts for the fixture are
// deleted. The empty namespace stays, because kube-controller-manager deletes one with more than 80 requests, unless the suite runs
// DeletingNamespaces.
func NewFixture(ctx context.Context, edits ...func(*corev1.Namespace)) *Fixture {
	GinkgoHelper()
	f := newNamespace(ctx, edits...)
	DeferCleanup(f.destroy)
	return f
}

// NewNamespace creates a fixture without objects of the cluster scope but its namespace. Its end takes a third of the requests of NewFixture.
func NewNamespace(ctx context.Context, edits ...func(*corev1.Namespace)) *Fixture {
	GinkgoHelper()
	f := newNamespace(ctx, edits...)
	DeferCleanup(f.leave)
	return f
}

func newNamespace(ctx context.Context, edits ...func(*corev1.Namespace)) *Fixture {
	GinkgoHelper()
	f := &Fixture{Namespace: fmt.Sprintf("w%d", fixtures.Add(1))}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
	for _, edit := range edits {
		edit(namespace)
	}
	f.Create(ctx, namespace)
	return f
}

// WithoutAdmission is an edit for NewFixture that exempts the namespace from the admission policies, so that it takes invalid placements.
func WithoutAdmission(namespace *corev1.Namespace) {
	namespace.Labels = map[string]string{AdmissionLabel: "off"}
}

// Name returns the full name, unique in the process, for a short name; full names sort as short names do.
func (f *Fixture) Name(short string) string { return f.Namespace + "-" + short }

// Names returns the full names for short names.
func (f *Fixture) Names(shorts ...string) []string {
	names := make([]string, 0, len(shorts))
	for _, short := range shorts {
		names = append(names, f.Name(short))
	}
	return names
}

// ShortName returns the short name for a full name.
func (f *Fixture) ShortName(name string) string { return strings.TrimPrefix(name, f.Namespace+"-") }

// Create creates an object of this fixture and labels it if it is cluster-scoped.
func (f *Fixture) Create(ctx context.Context, object client.Object) {
	GinkgoHelper()
	if object.GetNamespace() == "" {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[FixtureLabel] = f.Namespace
		object.SetLabels(labels)
	}
	Expect(Client.Create(ctx, object)).To(Succeed())
}

// release deletes the placements with their decisions and the federated objects, and then the bindings, so that the hub evaluates no placement
// again.
func (f *Fixture) release(ctx context.Context) {
	for _, adapter := range api.Adapters() {
		Expect(Client.DeleteAllOf(ctx, adapter.Empty(), client.InNamespace(f.Namespace))).To(Succeed())
		pages, ok := adapter.Codec().EmptyList().(client.ObjectList)
		Expect(ok).To(BeTrue())
		Expect(Client.List(ctx, pages, client.InNamespace(f.Namespace))).To(Succeed())

		// One by one: expectOwnWritesEnqueueNothing counts the deletions of decisions, and cannot count those of a collection.
		Expect(meta.EachListItem(pages, func(page runtime.Object) error {
			return client.IgnoreNotFound(Client.Delete(ctx, page.(client.Object)))
		})).To(Succeed())
	}

	if deleteFederated {
		for _, kind := range federation.DefaultKinds() {
			object := &metav1.PartialObjectMetadata{}
			object.SetGroupVersionKind(kind.GroupVersionKind)
			Expect(Client.DeleteAllOf(ctx, object, client.InNamespace(f.Namespace))).To(Succeed())
		}
	}
	Expect(Client.DeleteAllOf(ctx, &clusterv1beta2.ManagedClusterSetBinding{}, client.InNamespace(f.Namespace))).To(Succeed())
}

// leave deletes the objects of the namespace by which the hub acts.
func (f *Fixture) leave(ctx SpecContext) {
	f.release(ctx)
	if deleteNamespaces {
		Expect(Client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}})).To(Succeed())
	}
}

// destroy deletes the objects by which the hub acts, finalizers or not.
func (f *Fixture) destroy(ctx SpecContext) {
	mine := client.MatchingLabels{FixtureLabel: f.Namespace}

	clusters := &clusterv1.ManagedClusterList{}
	Expect(Client.List(ctx, clusters, mine)).To(Succeed())
	ofClusters := map[string]bool{} // The names of their namespaces.
	for _, cluster := range clusters.Items {
		ofClusters[cluster.Name] = true
	}

	f.release(ctx)
	Expect(Client.DeleteAllOf(ctx, &clusterv1.ManagedCluster{}, mine)).To(Succeed())
	Expect(Client.DeleteAllOf(ctx, &clusterv1beta2.ManagedClusterSet{}, mine)).To(Succeed())
	Expect(Client.DeleteAllOf(ctx, &rbacv1.ClusterRoleBinding{}, mine)).To(Succeed())
	Expect(Client.DeleteAllOf(ctx, &rbacv1.ClusterRole{}, mine)).To(Succeed())

	Expect(Client.List(ctx, clusters, mine)).To(Succeed())
	for _, cluster := range clusters.Items {
		DropFinalizers(ctx, &cluster)
	}
	namespaces := &corev1.NamespaceList{}
	Expect(Client.List(ctx, namespaces, mine)).To(Succeed())

	for _, namespace := range namespaces.Items {
		switch {
		case ofClusters[namespace.Name]:
			emptyNamespace(ctx, namespace.Name)
		case deleteNamespaces:
			Expect(client.IgnoreNotFound(Client.Delete(ctx, &namespace))).To(Succeed())
		}
	}

	if workloads {
		// After the namespace, in which no controller creates pods any more. No kubelet ends them.
		Expect(Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(f.Namespace), client.GracePeriodSeconds(0))).To(Succeed())
		Expect(Client.DeleteAllOf(ctx, &corev1.Node{}, mine)).To(Succeed())
	}
}

// emptyNamespace deletes what the hub and the specs write to the namespace of a cluster.
func emptyNamespace(ctx context.Context, name string) {
	GinkgoHelper()
	for _, object := range []client.Object{&workv1.ManifestWork{}, &clusterv1alpha1.AddOnPlacementScore{}} {
		err := Client.DeleteAllOf(ctx, object, client.InNamespace(name))
		if !meta.IsNoMatchError(err) { // Not every suite installs both definitions.
			Expect(err).NotTo(HaveOccurred())
		}
	}
}

// Node creates a Node without a kubelet, to which kube-scheduler binds pods: Run needs the setting WithWorkloads. The labels are added to
// kubernetes.io/hostname, the full name, and to the label of the fixture.
func (f *Fixture) Node(ctx context.Context, short string, labels map[string]string, taints ...corev1.Taint) *corev1.Node {
	GinkgoHelper()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: f.Name(short), Labels: map[string]string{FixtureLabel: f.Namespace, corev1.LabelHostname: f.Name(short)},
		},
		Spec: corev1.NodeSpec{Taints: taints},
	}
	maps.Copy(node.Labels, labels)
	Expect(ControlPlane.CreateNode(ctx, node)).To(Succeed())
	return node
}

// Cluster creates a member of an exclusive set of this fixture, or of none if set is empty. The edits may fill spec and status.
func (f *Fixture) Cluster(ctx context.Context, set, short string, edits ...func(*clusterv1.ManagedCluster)) *clusterv1.ManagedCluster {
	GinkgoHelper()
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.Name(short), Labels: map[string]string{}}}
	if set != "" {
		cluster.Labels[clusterv1beta2.ClusterSetLabel] = f.Name(set)
	}
	for _, edit := range edits {
		edit(cluster)
	}
	status := cluster.Status.DeepCopy()
	f.Create(ctx, cluster)

	if len(status.ClusterClaims)+len(status.Allocatable)+len(status.Conditions) > 0 {
		f.WriteStatus(ctx, cluster, *status)
	}
	return cluster
}

// WriteStatus replaces the status of a cluster.
func (f *Fixture) WriteStatus(ctx context.Context, cluster *clusterv1.ManagedCluster, status clusterv1.ManagedClusterStatus) {
	GinkgoHelper()
	before := cluster.DeepCopy()
	cluster.Status = status
	if cluster.Status.Conditions == nil {
		cluster.Status.Conditions = []metav1.Condition{}
	}
	Expect(Client.Status().Patch(ctx, cluster, client.MergeFrom(before))).To(Succeed())
}

// Clusters creates the clusters c001 and so on in a set, from the first number to the last, one after the other.
func (f *Fixture) Clusters(ctx context.Context, set string, first, last int, edits ...func(*clusterv1.ManagedCluster)) {
	GinkgoHelper()
	for i := first; i <= last; i++ {
		f.Cluster(ctx, set, fmt.Sprintf("c%03d", i), edits...)
	}
}

// DeleteCluster deletes a cluster of this fixture.
func (f *Fixture) DeleteCluster(ctx context.Context, short string) {
	GinkgoHelper()
	Expect(Client.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.Name(short)}})).To(Succeed())
}

// Placement creates a Placement of v1beta1.
func (f *Fixture) Placement(ctx context.Context, name string, spec clusterv1beta1.PlacementSpec) *clusterv1beta1.Placement {
	GinkgoHelper()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}, Spec: spec}
	f.Create(ctx, placement)
	return placement
}

// ForeignDecision creates a PlacementDecision with these clusters for a placement that does not exist.
func (f *Fixture) ForeignDecision(ctx context.Context, owner string, shorts ...string) {
	GinkgoHelper()
	page := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.Namespace, Name: owner + "-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: owner},
	}}
	f.Create(ctx, page)
	page.Status.Decisions = []clusterv1beta1.ClusterDecision{}
	for _, short := range shorts {
		page.Status.Decisions = append(page.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: f.Name(short)})
	}
	Expect(Client.Status().Update(ctx, page)).To(Succeed())
}
