// SPDX-License-Identifier: Apache-2.0

package federationfaults

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/history/works"
	"github.com/placement-hub/placement-hub/test/integration/suite"
	"github.com/placement-hub/placement-hub/test/integration/suite/matrix"
)

const (
	// objectsController is the controller under test.
	objectsController = "federation/objects"
	// worksResource is the resource of ManifestWorks.
	worksResource = "manifestworks"
	// wave is the label that the objects of most specs select by.
	wave = "wave"
)

// delivering is a setting for StartHub: federated objects are delivered too.
func delivering(o *system.Options) { o.Controllers = append(o.Controllers, objectsController) }

// install installs the system once. Nothing serves its webhook, whose failure policy is Ignore.
var install = sync.OnceFunc(func() {
	GinkgoHelper()
	Expect(manifests.InstallManifestWorks(context.Background(), suite.ControlPlane.AdminConfig())).To(Succeed())
	Expect(manifests.InstallSystem(context.Background(), suite.ControlPlane.AdminConfig(), manifests.Federation, "https://127.0.0.1:1")).
		To(Succeed())
})

// system is that of federated objects for the specs of matrix.
var underTest = &matrix.System{Prepare: install, Settings: []func(*system.Options){delivering}, Writes: isWrite}

// world is a namespace that takes part, with clusters and a record of all ManifestWorks.
type world struct {
	*suite.Fixture

	// fleet has the clusters, which worlds may share.
	fleet   *suite.Fixture
	history *works.History
	mark    works.Mark
}

// newWorld creates a world with clusters of its own, of the bound set "set".
func newWorld(ctx context.Context) *world {
	GinkgoHelper()
	w := &world{Fixture: suite.NewFixture(ctx, takingPart)}
	w.fleet = w.Fixture
	w.Set(ctx, "set")
	return w
}

// takingPart is an edit for the namespace of a fixture that has federated objects.
func takingPart(namespace *corev1.Namespace) {
	namespace.Labels = map[string]string{federation.FederatedLabel: "true"}
}

// another creates a world with the clusters and the record of this one.
func (w *world) another(ctx context.Context) *world {
	GinkgoHelper()
	shares := &world{Fixture: suite.NewNamespace(ctx, takingPart), fleet: w.fleet, history: w.history, mark: w.mark}
	shares.BindAny(ctx, w.fleet.Name("set"))
	return shares
}

// record starts to record all works.
func (w *world) record(ctx context.Context) {
	GinkgoHelper()
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx)) // Later specs of a container go on with it.
	DeferCleanup(cancel)
	var err error
	w.history, err = works.Record(watching, suite.ControlPlane.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	w.mark = w.history.Mark()
}

// members creates available clusters with their namespaces, from the first number to the last: clusters that are not available do not wait for
// the gains of others. The label wave has the value that of returns.
func (w *world) members(ctx context.Context, set string, first, last int, of func(i int) string) {
	GinkgoHelper()
	available, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []metav1.Condition{{
		Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Specified", LastTransitionTime: metav1.Now(),
	}}}})
	Expect(err).NotTo(HaveOccurred())

	w.fleet.ManyClusters(ctx, set, first, last, func(i int, cluster *clusterv1.ManagedCluster) { cluster.Labels[wave] = of(i) })
	Expect(suite.Each(ctx, last-first+1, func(ctx context.Context, i int) error {
		name := w.fleet.Name(fmt.Sprintf("c%03d", first+i))
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{suite.FixtureLabel: w.fleet.Namespace}}}
		if err := suite.Client.Create(ctx, namespace); err != nil {
			return fmt.Errorf("creating Namespace %s: %w", name, err)
		}
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := suite.Client.Status().Patch(ctx, cluster, client.RawPatch(types.MergePatchType, available)); err != nil {
			return fmt.Errorf("making ManagedCluster %s available: %w", name, err)
		}
		return nil
	})).To(Succeed())
}

// always returns a function for members that gives each cluster the same value.
func always(value string) func(int) string { return func(int) string { return value } }

// relabel sets a label of clusters, several at a time.
func (w *world) relabel(ctx context.Context, key, value string, shorts ...string) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]string{key: value}}})
	Expect(err).NotTo(HaveOccurred())
	Expect(suite.Each(ctx, len(shorts), func(ctx context.Context, i int) error {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.fleet.Name(shorts[i])}}
		return suite.Client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, patch))
	})).To(Succeed())
}

// selecting returns the value of the selector annotation for clusters whose label has one of the values.
func selecting(key string, values ...string) string {
	GinkgoHelper()
	value, err := json.Marshal([]map[string]any{{"key": key, "operator": "in", "values": values}})
	Expect(err).NotTo(HaveOccurred())
	return string(value)
}

// configMap creates a ConfigMap with a selector.
func (w *world) configMap(ctx context.Context, name, selector string) {
	GinkgoHelper()
	w.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: name, Annotations: map[string]string{federation.SelectorAnnotation: selector},
		},
		Data: map[string]string{"key": "value"},
	})
}

// edit changes "cm".
func (w *world) edit(ctx context.Context, change func(*corev1.ConfigMap)) {
	GinkgoHelper()
	suite.Edit(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "cm"}}, change)
}

// identity returns the identity of a ConfigMap.
func (w *world) identity(name string) federation.Identity {
	kind := federation.DefaultKinds()[0]
	return federation.Identity{NamespacedName: types.NamespacedName{Namespace: w.Namespace, Name: name}, Kind: kind}
}

// list returns the metadata of the works of a ConfigMap by the short names of the clusters.
func (w *world) list(ctx context.Context, g Gomega, name string) map[string]metav1.PartialObjectMetadata {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWorkList"))
	g.Expect(suite.Client.List(ctx, list, client.MatchingLabels{
		federation.NamespaceLabel: w.Namespace, federation.NameLabel: name, federation.KindLabel: "ConfigMap",
	})).To(Succeed())
	found := map[string]metav1.PartialObjectMetadata{}
	for _, work := range list.Items {
		found[w.fleet.ShortName(work.Namespace)] = work
	}
	return found
}

// clusters returns the short names of the clusters that have a work of "cm", sorted.
func (w *world) clusters(ctx context.Context, g Gomega) []string {
	return slices.Sorted(maps.Keys(w.list(ctx, g, "cm")))
}

// expectDelivered waits until the works of a ConfigMap are those that its present content needs in exactly these clusters.
func (w *world) expectDelivered(ctx context.Context, name string, shorts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) { w.delivered(ctx, g, name, shorts) }).WithContext(ctx).WithTimeout(2 * suite.Timeout).Should(Succeed())
}

// delivered demands the state of expectDelivered.
func (w *world) delivered(ctx context.Context, g Gomega, name string, shorts []string) {
	object := &corev1.ConfigMap{}
	g.Expect(suite.Client.Get(ctx, types.NamespacedName{Namespace: w.Namespace, Name: name}, object)).To(Succeed())
	hash := hashOf(g, object)
	found := w.list(ctx, g, name)
	g.Expect(slices.Sorted(maps.Keys(found))).To(Equal(slices.Sorted(slices.Values(shorts))), name)
	for short, work := range found {
		g.Expect(work.Annotations).To(HaveKeyWithValue(federation.HashAnnotation, hash), "%s in %s", name, short)
		g.Expect(work.DeletionTimestamp).To(BeNil(), "%s in %s", name, short)
	}
}

// hashOf returns the hash of the works of a ConfigMap.
func hashOf(g Gomega, object *corev1.ConfigMap) string {
	kind := federation.DefaultKinds()[0]
	object.SetGroupVersionKind(kind.GroupVersionKind)
	work, err := federation.NewPayload(kind, unstructuredOf(g, object)).Work("", federation.Variant{})
	g.Expect(err).NotTo(HaveOccurred())
	return work.Annotations[federation.HashAnnotation]
}

// expectSafe demands that nothing that the record shows of the objects of the world since the last call, or since its begin, broke a rule.
func (w *world) expectSafe(ctx context.Context) works.Passage {
	GinkgoHelper()
	Expect(w.history.CatchUp(ctx)).To(Succeed())
	passage := w.history.Since(w.mark).Only(func(key works.Key) bool { return strings.Contains(key.Object, "/"+w.Namespace+"/") })
	w.mark = w.history.Mark()
	Expect(passage.Disturbed(passage.Staying())).To(BeEmpty())
	Expect(passage.Doubled()).To(BeEmpty())
	return passage
}

// expectOrder demands in addition that every object gained its clusters before it lost others.
func (w *world) expectOrder(ctx context.Context) {
	GinkgoHelper()
	Expect(w.expectSafe(ctx).EarlyLosses()).To(BeEmpty())
}

// isWrite matches the writes of works.
var isWrite = faults.Match{Verbs: []string{"create", "update", "patch", "delete"}, Resources: []string{worksResource}}

// unstructuredOf converts a ConfigMap.
func unstructuredOf(g Gomega, object *corev1.ConfigMap) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	g.Expect(err).NotTo(HaveOccurred())
	return &unstructured.Unstructured{Object: content}
}

// keep demands that clusters have a work of "cm" as far as the record goes.
func (w *world) keep(g Gomega, shorts ...string) {
	present := w.history.Mark().Keys()
	for key := range w.keys("cm", shorts...) {
		g.Expect(present).To(HaveKey(key))
	}
}

// keys returns the deliveries of a ConfigMap to clusters.
func (w *world) keys(name string, shorts ...string) map[works.Key]bool {
	keys := map[works.Key]bool{}
	for _, short := range shorts {
		keys[works.Key{Object: w.identity(name).String(), Cluster: w.fleet.Name(short)}] = true
	}
	return keys
}
