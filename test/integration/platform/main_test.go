// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"maps"
	"slices"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/null"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// defaultSet is the set of Clusters without an annotation.
const defaultSet = "default"

func TestPlatform(t *testing.T) {
	suite.Run(t, "all systems in one hub", suite.DeletingFederated, suite.BeforeHub(install), suite.ConfigureHub(func(o *system.Options) {
		o.Controllers = append(o.Controllers, "federation/objects", "clusterrequest/requests", "clusterrequest/access", "clusters-inventory")
	}))
}

// install installs the systems and the rights of providers. Nothing serves the webhooks.
func install(ctx SpecContext) {
	admin := suite.ControlPlane.AdminConfig()
	Expect(manifests.InstallManifestWorks(ctx, admin)).To(Succeed())
	for _, system := range []string{manifests.Federation, manifests.ClusterRequest} {
		Expect(manifests.InstallSystem(ctx, admin, system, "")).To(Succeed())
	}
	Expect(manifests.Apply(ctx, admin, providers.Definitions("clusterprovider/*.yaml"))).To(Succeed())
}

// provide applies the manifest of a provider that is built in, with its ClusterProvider, and starts it as startProvider does.
func provide(ctx context.Context, name string, setup func(manager.Manager) error) *providers.Running {
	GinkgoHelper()
	provider := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: name}}
	Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), providers.Definitions("clusterprovider/"+name+".yaml"))).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, provider)).To(Succeed()) }) //nolint:contextcheck // The spec has ended.
	return startProvider(ctx, name, setup)
}

// startProvider starts a provider whose Clusters are healthy at once, with the rights of the one of its name that is built in. It runs until it
// is stopped or the spec ends, however often the hub is killed. setup may add more controllers; nil adds none.
func startProvider(ctx context.Context, name string, setup func(manager.Manager) error) *providers.Running {
	GinkgoHelper()
	offered := null.Provider{Offered: []openmcpv1alpha1.Profile{{
		Name: "default", SupportedVersions: []openmcpv1alpha1.SupportedVersion{{Version: "1.36.3"}},
	}}}
	return providers.Start(ctx, suite.ControlPlane, name, provider.Settings{
		Name: name, Provider: offered, LeaseDuration: null.LeaseDuration,
	}, setup)
}

// world is a namespace that takes part in federation, with purposes of its own.
type world struct {
	*suite.Fixture

	// dedicated and shared are purposes.
	dedicated, shared string
	ctx               context.Context //nolint:containedctx // That of the spec.
}

// newWorld creates the namespace and the purposes, and takes its requests back after the spec.
func newWorld(ctx context.Context) *world {
	GinkgoHelper()
	f := suite.NewFixture(ctx, func(namespace *corev1.Namespace) {
		namespace.Labels = map[string]string{federation.FederatedLabel: "true"}
	})
	w := &world{Fixture: f, dedicated: f.Name("dedicated"), shared: f.Name("shared"), ctx: ctx}
	w.Create(ctx, &openmcpv1alpha1.Purpose{
		ObjectMeta: metav1.ObjectMeta{Name: w.dedicated}, Spec: openmcpv1alpha1.PurposeSpec{Dedicated: true},
	})
	w.Create(ctx, &openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: w.shared}})
	DeferCleanup(w.release)
	return w
}

// release deletes the requests and waits until their Clusters are gone, which the provider has to do as well.
func (w *world) release(ctx SpecContext) {
	w.ctx = ctx
	for _, object := range []client.Object{&openmcpv1alpha1.AccessRequest{}, &openmcpv1alpha1.ClusterRequest{}} {
		Expect(suite.Client.DeleteAllOf(ctx, object, client.InNamespace(w.Namespace))).To(Succeed())
	}

	w.eventually(func(g Gomega) {
		for _, list := range []client.ObjectList{
			&openmcpv1alpha1.AccessRequestList{}, &openmcpv1alpha1.ClusterRequestList{}, &openmcpv1alpha1.ClusterList{},
		} {
			g.Expect(suite.Client.List(ctx, list, client.InNamespace(w.Namespace))).To(Succeed())
			g.Expect(meta.LenList(list)).To(BeZero(), "%T", list)
		}
		shared := &openmcpv1alpha1.ClusterList{}
		g.Expect(suite.Client.List(ctx, shared, client.InNamespace(clusterrequest.DefaultSharedNamespace))).To(Succeed())

		for _, cluster := range shared.Items {
			g.Expect(string(cluster.Spec.Purposes[0])).NotTo(HavePrefix(w.Name("")))
		}
	})
}

func (w *world) eventually(check func(Gomega)) {
	GinkgoHelper()
	Eventually(check).WithContext(w.ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// request creates a request for a purpose.
func (w *world) request(name, purpose string) *openmcpv1alpha1.ClusterRequest {
	GinkgoHelper()
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{openmcpv1alpha1.PurposeName(purpose)}
	w.Create(w.ctx, request)
	return request
}

// published waits until a request has a Cluster that is published, and returns it.
func (w *world) published(request *openmcpv1alpha1.ClusterRequest) *openmcpv1alpha1.Cluster {
	GinkgoHelper()
	cluster := &openmcpv1alpha1.Cluster{}
	w.eventually(func(g Gomega) {
		found := clusterOf(w.ctx, g, request)
		g.Expect(found).NotTo(BeNil())
		g.Expect(meta.IsStatusConditionTrue(found.Status.Conditions, openmcpv1alpha1.ConditionPublished)).To(BeTrue())
		found.DeepCopyInto(cluster)
	})
	return cluster
}

// clusterOf returns the Cluster of a request that is granted; nil if it is not, or there is none.
func clusterOf(ctx context.Context, g Gomega, request *openmcpv1alpha1.ClusterRequest) *openmcpv1alpha1.Cluster {
	grant, cluster := &openmcpv1alpha1.ClusterRequestGrant{}, &openmcpv1alpha1.Cluster{}
	err := suite.Client.Get(ctx, client.ObjectKeyFromObject(request), grant)
	if err == nil {
		err = suite.Client.Get(ctx, types.NamespacedName{Namespace: grant.Spec.ClusterRef.Namespace, Name: grant.Spec.ClusterRef.Name}, cluster)
	}
	g.Expect(client.IgnoreNotFound(err)).To(Succeed())
	if err != nil {
		return nil
	}
	return cluster
}

// byLabel is a selector of federated objects for clusters with a purpose.
func byLabel(purpose string) string {
	return `[{"key":"` + openmcpv1alpha1.PurposeKeyPrefix + purpose + `","operator":"exists"}]`
}

// byClaim is the spec of a Placement that selects clusters with a purpose.
func byClaim(purpose string) clusterv1beta1.PlacementSpec {
	return clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: openmcpv1alpha1.PurposeKeyPrefix + purpose, Operator: metav1.LabelSelectorOpIn, Values: []string{"true"},
		}}},
	}}}}
}

// configMap creates a ConfigMap that follows a purpose.
func (w *world) configMap(name, purpose string) {
	GinkgoHelper()
	w.Create(w.ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: name, Annotations: map[string]string{federation.SelectorAnnotation: byLabel(purpose)},
		},
		Data: map[string]string{"key": "value"},
	})
}

// works returns the ManifestWorks of the federated objects of the namespace that are not being deleted, by the names of their clusters.
func (w *world) works(g Gomega) map[string]types.UID {
	list := &workv1.ManifestWorkList{}
	g.Expect(suite.Client.List(w.ctx, list, client.MatchingLabels{federation.NamespaceLabel: w.Namespace})).To(Succeed())
	found := map[string]types.UID{}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			found[list.Items[i].Namespace] = list.Items[i].UID
		}
	}
	return found
}

// delivered demands that the objects of the namespace are delivered to exactly these clusters.
func (w *world) delivered(g Gomega, clusters ...string) {
	g.Expect(slices.Collect(maps.Keys(w.works(g)))).To(ConsistOf(clusters))
}

// selected demands that the decisions of a Placement name exactly these clusters, and that its status says so.
func (w *world) selected(g Gomega, placement string, clusters ...string) {
	var names []string
	for _, page := range w.Pages(w.ctx, g, placement) {
		for _, decision := range page.Status.Decisions {
			names = append(names, decision.ClusterName)
		}
	}
	g.Expect(names).To(ConsistOf(clusters))
	g.Expect(w.Read(w.ctx, g, placement).Status.NumberOfSelectedClusters).To(BeEquivalentTo(len(clusters)))
}
