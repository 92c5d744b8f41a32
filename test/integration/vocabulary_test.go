package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/pkg/controller/managedcluster"
)

// warnings are what the API server tells a client beside its answers.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader takes a warning as the client library hands it over.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	// Before the message the API server names policy and binding.
	_, message, _ := strings.Cut(text, "placement-hub-vocabulary': ")
	w.texts = append(w.texts, message)
}

// warned is what the API server says when this placement is made; it is not.
func (w *world) warned(ctx context.Context, g Gomega, spec clusterv1beta1.PlacementSpec) []string {
	return w.warnedAs(ctx, g, controlPlane.AdminConfig(), spec)
}

// warnedAs is what the API server says to a user.
func (w *world) warnedAs(ctx context.Context, g Gomega, who *rest.Config, spec clusterv1beta1.PlacementSpec) []string {
	heard := &warnings{texts: []string{}}
	config := rest.CopyConfig(who)
	config.WarningHandler = heard

	user, err := client.New(config, client.Options{Scheme: controller.Scheme(), Mapper: hub.RESTMapper()})
	g.Expect(err).NotTo(HaveOccurred())

	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "tried"}, Spec: spec}
	g.Expect(client.NewDryRunClient(user).Create(ctx, placement)).To(Succeed())

	return heard.texts
}

// expectWarned waits until making this placement is answered with exactly these warnings.
func (w *world) expectWarned(ctx context.Context, spec clusterv1beta1.PlacementSpec, want ...string) {
	GinkgoHelper()

	if want == nil {
		want = []string{}
	}

	Eventually(func(g Gomega) []string { return w.warned(ctx, g, spec) }).
		WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Equal(want))
}

// vocabularyWrites are the requests of the hub that write the ConfigMap.
func vocabularyWrites(g Gomega) []string {
	writes := []string{}

	for _, write := range hubWrites(g, func(namespace string) bool { return namespace == manifests.Namespace }) {
		if strings.Contains(write, "configmaps") {
			writes = append(writes, write)
		}
	}

	return writes
}

func readVocabulary(ctx context.Context, g Gomega) *corev1.ConfigMap {
	vocabulary := &corev1.ConfigMap{}
	g.Expect(hub.Get(ctx, client.ObjectKey{Namespace: manifests.Namespace, Name: managedcluster.VocabularyConfigMap}, vocabulary)).To(Succeed())

	return vocabulary
}

// toldAll waits until the vocabulary has every label key of the fleet and every namespace with bindings, and no others.
func toldAll(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		clusters, bindings := &clusterv1.ManagedClusterList{}, &clusterv1beta2.ManagedClusterSetBindingList{}
		g.Expect(hub.List(ctx, clusters)).To(Succeed())
		g.Expect(hub.List(ctx, bindings)).To(Succeed())

		labels, namespaces := map[string]bool{}, map[string]bool{}

		for _, cluster := range clusters.Items {
			for key := range cluster.Labels {
				labels[key] = true
			}
		}

		for _, binding := range bindings.Items {
			namespaces[binding.Namespace] = true
		}

		data := readVocabulary(ctx, g).Data
		g.Expect(strings.Split(data["labels"], "\n")).To(Equal(slices.Sorted(maps.Keys(labels))))
		g.Expect(data["bound"]).To(Equal(strconv.Itoa(len(namespaces))))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}

var _ = Describe("What a placement names and the fleet does not have", Serial, func() {
	const inFirstPredicate = "spec.predicates[0].requiredClusterSelector."

	It("warns of a set that is not bound until it is", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")

		spec := clusterv1beta1.PlacementSpec{ClusterSets: w.names("set", "blue")}
		blue := w.name("blue")
		w.expectWarned(ctx, spec, fmt.Sprintf(
			"spec.clusterSets[1]: Invalid value: %q: is not bound to the namespace yet: create a ManagedClusterSetBinding named %s", blue, blue))

		w.placement(ctx, "p", spec)
		w.expectSelected(ctx, "p", allSetsEmpty)

		binding := w.bind(ctx, "blue")
		w.expectWarned(ctx, spec)

		Expect(hub.Delete(ctx, binding)).To(Succeed())
		Eventually(func(g Gomega) []string { return w.warned(ctx, g, spec) }).WithContext(ctx).WithTimeout(settle).Should(HaveLen(1))
		Expect(w.warned(ctx, Default, clusterv1beta1.PlacementSpec{})).To(BeEmpty(), "it names nothing")

		elsewhere := newWorld(ctx)
		elsewhere.expectWarned(ctx, clusterv1beta1.PlacementSpec{ClusterSets: w.names("set")}, fmt.Sprintf(
			"spec.clusterSets[0]: Invalid value: %q: is not bound to the namespace yet: create a ManagedClusterSetBinding named %s",
			w.name("set"), w.name("set")))
	})

	It("tells of labels and claims to nobody who may not list clusters: they may be those of sets that are not bound", func(ctx SpecContext) {
		w := newWorld(ctx)
		tenant, err := controlPlane.UserConfig(w.name("tenant"))
		Expect(err).NotTo(HaveOccurred())

		user := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: w.name("tenant")}
		w.create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "edits"}, Subjects: []rbacv1.Subject{user},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		})

		probe := matching(clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"example.com/" + w.name("a"): "x"}},
			ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: w.name("claim"), Operator: metav1.LabelSelectorOpExists},
			}},
		}})
		probe.ClusterSets = w.names("blue")

		Eventually(func(g Gomega) []string { return w.warned(ctx, g, probe) }).
			WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(HaveLen(3), "an administrator is warned of all three")
		Eventually(func(g Gomega) []string { return w.warnedAs(ctx, g, tenant, probe) }).WithContext(ctx).WithTimeout(settle).
			Should(ConsistOf(ContainSubstring("is not bound to the namespace yet")))

		w.bindRole(ctx, user, "open-cluster-management:placement-hub:fleet-view")
		Eventually(func(g Gomega) []string { return w.warnedAs(ctx, g, tenant, probe) }).WithContext(ctx).WithTimeout(settle).
			Should(HaveLen(3), "who may list clusters is warned of all three")
	})

	It("warns of a label that no cluster has until one has it, where a predicate needs it", func(ctx SpecContext) {
		w := newWorld(ctx)
		key := "example.com/" + w.name("regoin")
		words := fmt.Sprintf("Invalid value: %q: no cluster has this label yet: check the spelling, or label a ManagedCluster", key)
		needing := func(operator metav1.LabelSelectorOperator, values ...string) clusterv1beta1.PlacementSpec {
			return matching(clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: key, Operator: operator, Values: values},
				}},
			}})
		}

		w.expectWarned(ctx, matching(byLabel(key, "eu")), inFirstPredicate+"labelSelector.matchLabels: "+words)
		w.expectWarned(ctx, needing("In", "eu"), inFirstPredicate+"labelSelector.matchExpressions[0].key: "+words)
		w.expectWarned(ctx, needing("Exists"), inFirstPredicate+"labelSelector.matchExpressions[0].key: "+words)
		w.expectWarned(ctx, needing("NotIn", "eu"))
		w.expectWarned(ctx, needing("DoesNotExist"))

		w.cluster(ctx, "", "c001")
		w.editCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels[key] = "another" })
		w.expectWarned(ctx, matching(byLabel(key, "eu")))

		w.deleteCluster(ctx, "c001")
		w.expectWarned(ctx, needing("Exists"), inFirstPredicate+"labelSelector.matchExpressions[0].key: "+words)
	})

	It("warns of a claim that no cluster has until one reports it", func(ctx SpecContext) {
		w := newWorld(ctx)
		key := "arn of " + w.namespace
		spec := matching(byClaim(key, metav1.LabelSelectorOpIn, "a"), byClaim(key, metav1.LabelSelectorOpNotIn, "a"))
		w.expectWarned(ctx, spec, inFirstPredicate+"claimSelector.matchExpressions[0].key: "+
			fmt.Sprintf("Invalid value: %q: no cluster has this claim yet: check the spelling, or have a cluster report it", key))

		w.cluster(ctx, "", "c001", claiming(key, "b"))
		w.expectWarned(ctx, spec)
	})

	It("warns when a spec changes, not when it stays", func(ctx SpecContext) {
		w := newWorld(ctx)
		spec := clusterv1beta1.PlacementSpec{ClusterSets: w.names("absent")}
		w.expectWarned(ctx, spec, fmt.Sprintf(
			"spec.clusterSets[0]: Invalid value: %q: is not bound to the namespace yet: create a ManagedClusterSetBinding named %s",
			w.name("absent"), w.name("absent")))
		placement := w.placement(ctx, "p", spec)

		heard := &warnings{}
		config := rest.CopyConfig(controlPlane.AdminConfig())
		config.WarningHandler = heard
		user, err := client.New(config, client.Options{Scheme: controller.Scheme(), Mapper: hub.RESTMapper()})
		Expect(err).NotTo(HaveOccurred())

		patch := func(body string) {
			GinkgoHelper()
			Expect(user.Patch(ctx, placement, client.RawPatch("application/merge-patch+json", []byte(body)))).To(Succeed())
		}
		patch(`{"metadata":{"labels":{"a":"b"}}}`)
		Expect(heard.texts).To(BeEmpty())
		patch(`{"spec":{"numberOfClusters":1}}`)
		Expect(heard.texts).To(HaveLen(1))
	})
})

var _ = Describe("The vocabulary", Serial, func() {
	It("holds each word of the fleet once, and follows it", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.bind(ctx, "two")
		w.bind(ctx, "one")
		w.cluster(ctx, "", "c001", labeled(w.name("label"), ""), claiming(w.name("claim"), ""))
		w.cluster(ctx, "", "c002", labeled(w.name("label"), "other"))

		count := func(list, word string) int {
			return strings.Count("\n"+list+"\n", "\n"+word+"\n")
		}
		Eventually(func(g Gomega) {
			data := readVocabulary(ctx, g).Data
			g.Expect(count(data["labels"], w.name("label"))).To(Equal(1))
			g.Expect(count(data["claims"], w.name("claim"))).To(Equal(1))
			g.Expect(data).To(HaveKeyWithValue("bound."+w.namespace, w.name("one")+"\n"+w.name("two")))
			g.Expect(data).To(HaveKey("bound"))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		Expect(hub.DeleteAllOf(ctx, &clusterv1beta2.ManagedClusterSetBinding{}, client.InNamespace(w.namespace))).To(Succeed())
		w.deleteCluster(ctx, "c001")
		w.deleteCluster(ctx, "c002")
		Eventually(func(g Gomega) {
			data := readVocabulary(ctx, g).Data
			g.Expect(count(data["labels"], w.name("label")) + count(data["claims"], w.name("claim"))).To(BeZero())
			g.Expect(data).NotTo(HaveKey("bound." + w.namespace))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	})

	It("B6: is written about once a second in a storm, and not at all when no word changes", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.cluster(ctx, "", "c001")

		toldAll(ctx)

		before := len(unchanging(ctx, vocabularyWrites))
		began := time.Now()

		for i := range 60 {
			w.editCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels[fmt.Sprintf("%s-%03d", w.namespace, i)] = "" })
		}

		last := w.namespace + "-059"

		toldAll(ctx)

		elapsed := int(time.Since(began).Seconds())
		written := len(unchanging(ctx, vocabularyWrites)) - before
		Expect(written).To(And(BeNumerically(">", 0), BeNumerically("<=", elapsed+2)))

		settled := unchanging(ctx, vocabularyWrites)

		w.editCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels[last] = "another" })

		fresh := &clusterv1.ManagedCluster{}
		Expect(hub.Get(ctx, client.ObjectKey{Name: w.name("c001")}, fresh)).To(Succeed())
		w.report(ctx, fresh, clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Beat", LastTransitionTime: metav1.Now(),
		}}})
		Consistently(vocabularyWrites).
			WithContext(ctx).WithTimeout(quiet).WithPolling(auditEvery).Should(Equal(settled))
	})

	It("comes back when it is edited or deleted, and without it nobody is warned", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.bind(ctx, "set")
		Eventually(func(g Gomega) { g.Expect(readVocabulary(ctx, g).Data).To(HaveKey("bound." + w.namespace)) }).
			WithContext(ctx).WithTimeout(settle).Should(Succeed())

		whole := readVocabulary(ctx, Default)
		edit(ctx, whole, func(c *corev1.ConfigMap) {
			delete(c.Data, "bound."+w.namespace)
			c.Data["foreign"] = "word"
			c.Labels = map[string]string{"example.com/kept": "true"}
		})
		Eventually(func(g Gomega) {
			seen := readVocabulary(ctx, g)
			g.Expect(seen.Data).To(Equal(whole.Data))
			g.Expect(seen.Labels).To(HaveKey("example.com/kept"))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		stopHub()
		Expect(hub.Delete(ctx, whole)).To(Succeed())

		spec := clusterv1beta1.PlacementSpec{ClusterSets: w.names("absent")}
		w.expectWarned(ctx, spec)

		stopHub = startHub(serviceAccount(ctx, controlPlane))

		Eventually(func(g Gomega) { g.Expect(readVocabulary(ctx, g).Data).To(Equal(whole.Data)) }).
			WithContext(ctx).WithTimeout(settle).Should(Succeed())
		Eventually(func(g Gomega) []string { return w.warned(ctx, g, spec) }).WithContext(ctx).WithTimeout(settle).Should(HaveLen(1))
	})
})
