// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// caller is a place in the product that applies objects of one kind.
type caller struct {
	// start has the product apply an object, and returns its kind and name.
	start func(w *world) (schema.GroupVersionKind, types.NamespacedName)
	// change has the product apply something else in each round, from 1 on.
	change func(w *world, round int)
	// shows demands what was applied in a round.
	shows func(g Gomega, applied *unstructured.Unstructured, round int)
	// definition is the name of the CustomResourceDefinition; empty for a kind of Kubernetes.
	definition string
	// field is the path in the schema of a field that is applied, and lacks demands that an object is as applied without it.
	field []string
	lacks func(g Gomega, applied *unstructured.Unstructured, round int)
	// status reports that the status is applied.
	status bool
}

// world is a namespace with what a caller needs.
type world struct {
	*suite.Fixture

	ctx      context.Context //nolint:containedctx // That of the spec.
	kind     schema.GroupVersionKind
	name     types.NamespacedName
	clusters *cloud
	clock    *providers.Clock
}

func newWorld(ctx context.Context) *world {
	GinkgoHelper()
	return &world{ctx: ctx, clusters: &cloud{}, clock: providers.NewClock(), Fixture: suite.NewFixture(ctx, func(namespace *corev1.Namespace) {
		namespace.Labels = map[string]string{federation.FederatedLabel: "true"}
	})}
}

func (w *world) eventually(check func(Gomega)) {
	GinkgoHelper()
	Eventually(check).WithContext(w.ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// patch sends a merge patch.
func (w *world) patch(object client.Object, content string) {
	GinkgoHelper()
	Expect(suite.Client.Patch(w.ctx, object, client.RawPatch(types.MergePatchType, []byte(content)))).To(Succeed())
}

// touch has the controllers of an object look at it.
func (w *world) touch(object client.Object, round int) {
	GinkgoHelper()
	w.patch(object, fmt.Sprintf(`{"metadata":{"annotations":{"test/round":"%d"}}}`, round))
}

// read reads the applied object.
func (w *world) read(g Gomega) *unstructured.Unstructured {
	object := w.empty()
	g.Expect(suite.Client.Get(w.ctx, w.name, object)).To(Succeed())
	return object
}

func (w *world) empty() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(w.kind)
	object.SetNamespace(w.name.Namespace)
	object.SetName(w.name.Name)
	return object
}

// cloud is a provider whose clusters are as it is told.
type cloud struct {
	mu    sync.Mutex
	round int
}

func (c *cloud) turn(round int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.round = round
}

func (c *cloud) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.round
}

// Profiles returns one profile, with a trait that differs by round.
func (c *cloud) Profiles(context.Context, client.Reader) ([]openmcpv1alpha1.Profile, error) {
	return []openmcpv1alpha1.Profile{{
		Name: "default", SupportedVersions: []openmcpv1alpha1.SupportedVersion{{Version: fmt.Sprintf("1.36.%d", c.now())}},
		SupportedTraits: []openmcpv1alpha1.SupportedTrait{{Trait: fmt.Sprintf("test/round-%d", c.now())}},
	}}, nil
}

// Ensure returns a message that differs by round, and an endpoint in the rounds 1, 3 and so on.
func (c *cloud) Ensure(context.Context, *openmcpv1alpha1.Cluster) (provider.State, error) {
	round := c.now()
	state := provider.State{Healthy: true, Reason: "Running", Message: fmt.Sprintf("round %d", round)}
	if round%2 == 1 {
		state.Endpoints = []openmcpv1alpha1.Endpoint{{Name: "apiserver-external", URL: fmt.Sprintf("https://round-%d", round)}}
	}
	return state, nil
}

func (*cloud) TearDown(context.Context, *openmcpv1alpha1.Cluster) error { return nil }

func (*cloud) Forget(context.Context, types.NamespacedName) error { return nil }

// cluster starts a provider and creates a Cluster of it.
func (w *world) cluster() *openmcpv1alpha1.Cluster {
	GinkgoHelper()
	found := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: w.Name("provider")}}
	found.Spec.LeaseNamespace = providers.Namespace("null")
	w.Create(w.ctx, found)
	DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, found)).To(Succeed()) })
	suite.Allow(w.ctx, "", "system:serviceaccount:"+providers.Namespace("null")+":provider", provides(found.Name))
	providers.Start(w.ctx, suite.ControlPlane, "null", provider.Settings{
		Name: found.Name, Provider: w.clusters, LeaseDuration: time.Hour, Queue: settingsWith(w.clock),
	}, nil)

	cluster := providers.NewCluster(w.Namespace, "c", found.Name)
	cluster.Annotations = map[string]string{openmcpv1alpha1.ClusterSetAnnotation: w.Set(w.ctx, "set").Name}
	w.Create(w.ctx, cluster)
	DeferCleanup(func(ctx SpecContext) {
		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
		suite.DropFinalizers(ctx, cluster)
		name := clusterrequest.ManagedClusterName(client.ObjectKeyFromObject(cluster))
		managed := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, managed))).To(Succeed())
	})
	w.eventually(func(g Gomega) {
		g.Expect(providers.Health(w.ctx, g, cluster)).To(HavePrefix("True"))
		g.Expect(cluster.Status.ManagedCluster).NotTo(BeEmpty())
	})
	return cluster
}

func ofCluster(w *world) (schema.GroupVersionKind, types.NamespacedName) {
	return openmcpv1alpha1.GroupVersion.WithKind("Cluster"), client.ObjectKeyFromObject(w.cluster())
}

// text returns a text at a path.
func text(object *unstructured.Unstructured, path ...string) string {
	found, _, _ := unstructured.NestedString(object.Object, path...)
	return found
}

// conditions returns the texts of a field of the conditions by their types.
func conditions(object *unstructured.Unstructured, field string) map[string]any {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	found := map[string]any{}
	for _, entry := range all {
		if condition, is := entry.(map[string]any); is {
			found[fmt.Sprint(condition["type"])] = condition[field]
		}
	}
	return found
}

// showsHealth demands the condition of the provider, and that of the hub beside it.
func showsHealth(g Gomega, applied *unstructured.Unstructured, round int) {
	g.Expect(conditions(applied, "message")).To(HaveKeyWithValue(openmcpv1alpha1.ConditionClusterHealthy, fmt.Sprintf("round %d", round)))
	g.Expect(conditions(applied, "status")).To(HaveKeyWithValue(openmcpv1alpha1.ConditionPublished, "True"))
	g.Expect(text(applied, "status", "managedCluster")).NotTo(BeEmpty())
}

// statusOf returns what the agent of a cluster reports in a round.
func statusOf(round int) clusterv1.ManagedClusterStatus {
	return clusterv1.ManagedClusterStatus{
		ClusterClaims: []clusterv1.ManagedClusterClaim{{Name: "round", Value: strconv.Itoa(round)}},
		Version:       clusterv1.ManagedClusterVersion{Kubernetes: fmt.Sprintf("v1.36.%d", round)},
	}
}

// showsVersion demands the label and the version of the ClusterProfile.
func showsVersion(g Gomega, applied *unstructured.Unstructured, round int) {
	g.Expect(applied.GetLabels()).To(HaveKeyWithValue(clusterv1.ClusterNameLabelKey, applied.GetName()))
	g.Expect(text(applied, "status", "version", "kubernetes")).To(Equal(fmt.Sprintf("v1.36.%d", round)))
}

// class returns the class of a round; empty in every third.
func class(round int) string { return []string{"", "dc1", "dc2"}[round%3] }

// callers are all that apply, with the objects that they apply.
var callers = map[string]caller{
	"ManifestWorks of federation": {
		start: func(w *world) (schema.GroupVersionKind, types.NamespacedName) {
			w.Set(w.ctx, "set")
			cluster := w.Cluster(w.ctx, "set", "c", suite.IsAvailable(metav1.ConditionTrue))
			w.Create(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Name}})
			w.Create(w.ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: w.Namespace, Name: "object", Annotations: map[string]string{federation.SelectorAnnotation: "[]"},
				},
				Data: map[string]string{"round": "0"},
			})
			works := &workv1.ManifestWorkList{}
			w.eventually(func(g Gomega) {
				g.Expect(suite.Client.List(w.ctx, works, client.InNamespace(cluster.Name))).To(Succeed())
				g.Expect(works.Items).To(HaveLen(1))
			})
			return schema.GroupVersionKind{Group: workv1.GroupName, Version: "v1", Kind: "ManifestWork"}, client.ObjectKeyFromObject(&works.Items[0])
		},
		change: func(w *world, round int) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "object"}}
			w.patch(object, fmt.Sprintf(`{"data":{"round":"%d"}}`, round))
		},
		shows: func(g Gomega, applied *unstructured.Unstructured, round int) {
			manifests, _, _ := unstructured.NestedSlice(applied.Object, "spec", "workload", "manifests")
			g.Expect(manifests).To(ContainElement(HaveKeyWithValue("data", HaveKeyWithValue("round", strconv.Itoa(round)))))
		},
		definition: "manifestworks.work.open-cluster-management.io", field: []string{"spec", "deleteOption"},
	},
	"HelmReleases of affinity classes": {
		start: func(w *world) (schema.GroupVersionKind, types.NamespacedName) {
			for _, name := range []string{"dc1", "dc2"} {
				created := &cozystackv1alpha1.AffinityClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
				created.Spec.NodeSelector = map[string]cozystackv1alpha1.NodeLabelValue{"zone": cozystackv1alpha1.NodeLabelValue(name)}
				Expect(client.IgnoreAlreadyExists(suite.Client.Create(w.ctx, created))).To(Succeed())
			}
			application := w.application()
			Expect(suite.Client.Create(w.ctx, application)).To(Succeed())
			release := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
				"interval": "1m", "values": map[string]any{"kept": "yes"},
			}}}
			release.SetGroupVersionKind(affinityclass.ReleaseKind)
			release.SetNamespace(application.GetNamespace())
			release.SetName(w.Namespace)
			release.SetLabels(affinityclass.ReleaseLabels(appsv1alpha1.GroupName, "Postgres", w.Namespace))
			Expect(suite.Client.Create(w.ctx, release)).To(Succeed())
			return affinityclass.ReleaseKind, client.ObjectKeyFromObject(release)
		},
		change: func(w *world, round int) {
			class := fmt.Sprintf("%q", class(round))
			if class == `""` {
				class = "null"
			}
			w.patch(w.application(), `{"spec":{"affinityClass":`+class+`}}`)
		},
		shows: func(g Gomega, applied *unstructured.Unstructured, round int) {
			g.Expect(applied.GetLabels()[affinityclass.ClassLabel]).To(Equal(class(round)))
			g.Expect(text(applied, "spec", "values", "_scheduling", "affinityClass")).To(Equal(class(round)))
			g.Expect(text(applied, "spec", "values", "kept")).To(Equal("yes"))
		},
		definition: "helmreleases.helm.toolkit.fluxcd.io",
	},
	"statuses of Clusters by their provider": {
		start: ofCluster, status: true,
		change: func(w *world, round int) {
			w.clusters.turn(round)
			w.touch(w.empty(), round)
		},
		shows: func(g Gomega, applied *unstructured.Unstructured, round int) {
			showsHealth(g, applied, round)
			endpoints, _, _ := unstructured.NestedSlice(applied.Object, "status", "endpoints")
			g.Expect(endpoints).To(HaveLen(round % 2))
		},
		definition: "clusters.cluster.openmcp.cloud", field: []string{"status", "endpoints"}, lacks: showsHealth,
	},
	"statuses of Clusters by the hub": {
		start: ofCluster, status: true,
		change: func(w *world, round int) {
			w.patch(w.empty(), fmt.Sprintf(`{"spec":{"purposes":["round-%d"]}}`, round))
		},
		shows: func(g Gomega, applied *unstructured.Unstructured, _ int) {
			showsHealth(g, applied, 0)
			g.Expect(conditions(applied, "observedGeneration")).To(HaveKeyWithValue(openmcpv1alpha1.ConditionPublished, applied.GetGeneration()))
		},
		definition: "clusters.cluster.openmcp.cloud", field: []string{"status", "managedCluster"},
		lacks: func(g Gomega, applied *unstructured.Unstructured, _ int) {
			g.Expect(conditions(applied, "observedGeneration")).To(HaveKeyWithValue(openmcpv1alpha1.ConditionPublished, applied.GetGeneration()))
		},
	},
	"statuses of ClusterProviders": {
		start: func(w *world) (schema.GroupVersionKind, types.NamespacedName) {
			return openmcpv1alpha1.GroupVersion.WithKind("ClusterProvider"), types.NamespacedName{Name: w.cluster().Spec.ClusterProviderRef.Name}
		},
		status: true,
		change: func(w *world, round int) {
			w.clusters.turn(round)
			w.touch(w.empty(), round)
		},
		shows: func(g Gomega, applied *unstructured.Unstructured, round int) {
			profiles, _, _ := unstructured.NestedSlice(applied.Object, "status", "profiles")
			g.Expect(profiles).To(ConsistOf(And(
				HaveKeyWithValue("supportedVersions", ConsistOf(HaveKeyWithValue("version", fmt.Sprintf("1.36.%d", round)))),
				HaveKeyWithValue("supportedTraits", ConsistOf(HaveKeyWithValue("trait", fmt.Sprintf("test/round-%d", round)))))))
			g.Expect(conditions(applied, "status")).To(HaveKeyWithValue(openmcpv1alpha1.ConditionProviderReady, "True"))
		},
		definition: "clusterproviders.cluster.openmcp.cloud", field: []string{"status", "profiles", "items", "supportedTraits"},
		lacks: func(g Gomega, applied *unstructured.Unstructured, round int) {
			profiles, _, _ := unstructured.NestedSlice(applied.Object, "status", "profiles")
			g.Expect(profiles).To(ConsistOf(
				HaveKeyWithValue("supportedVersions", ConsistOf(HaveKeyWithValue("version", fmt.Sprintf("1.36.%d", round))))))
		},
	},
	"ClusterProfiles": {
		start: func(w *world) (schema.GroupVersionKind, types.NamespacedName) {
			w.Set(w.ctx, "set")
			cluster := w.Cluster(w.ctx, "set", "c", func(c *clusterv1.ManagedCluster) { c.Status = statusOf(0) })
			name := types.NamespacedName{Namespace: w.Namespace, Name: cluster.Name}
			w.eventually(func(g Gomega) {
				g.Expect(suite.Client.Get(w.ctx, name, &clusterinventory.ClusterProfile{})).To(Succeed())
			})
			return clusterinventory.GroupVersion.WithKind("ClusterProfile"), name
		},
		status: true,
		change: func(w *world, round int) { // The hub applies the label again, and then the status.
			w.patch(w.empty(), fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, clusterv1.ClusterNameLabelKey))
			w.WriteStatus(w.ctx, w.ReadCluster(w.ctx, Default, "c"), statusOf(round))
		},
		shows: func(g Gomega, applied *unstructured.Unstructured, round int) {
			showsVersion(g, applied, round)
			properties, _, _ := unstructured.NestedSlice(applied.Object, "status", "properties")
			g.Expect(properties).To(ConsistOf(And(HaveKeyWithValue("name", "round"), HaveKeyWithValue("value", strconv.Itoa(round)))))
		},
		definition: "clusterprofiles.multicluster.x-k8s.io", field: []string{"status", "properties"}, lacks: showsVersion,
	},
	"Leases of providers": {
		start: func(w *world) (schema.GroupVersionKind, types.NamespacedName) {
			return coordinationv1.SchemeGroupVersion.WithKind("Lease"), clusterrequest.LeaseKey(w.cluster(), providers.Namespace("null"))
		},
		change: func(w *world, round int) {
			w.clock.Advance(time.Hour)
			w.touch(providers.NewCluster(w.Namespace, "c", ""), round)
		},
		shows: func(g Gomega, applied *unstructured.Unstructured, round int) {
			renewed, err := time.Parse(time.RFC3339, text(applied, "spec", "renewTime"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(time.Until(renewed)).To(BeNumerically("~", time.Duration(round)*time.Hour, 10*time.Minute))
		},
	},
}

// application returns the application of the HelmRelease, which has the name of the namespace of the world.
func (w *world) application() *unstructured.Unstructured {
	application := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(1)}}}
	application.SetGroupVersionKind(schema.GroupVersionKind{Group: appsv1alpha1.GroupName, Version: "v1alpha1", Kind: "Postgres"})
	application.SetNamespace(affinityclass.RootNamespace)
	application.SetName(w.Namespace)
	return application
}
