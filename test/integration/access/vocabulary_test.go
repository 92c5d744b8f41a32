// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
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
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
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
	_, message, _ := strings.Cut(text, "' with binding '")
	_, message, _ = strings.Cut(message, "': ")
	w.texts = append(w.texts, message)
}

// warned is what the API server says when this placement is made; it is not.
func warned(ctx context.Context, f *suite.Fixture, g Gomega, spec clusterv1beta1.PlacementSpec) []string {
	return warnedAs(ctx, f, g, suite.ControlPlane.AdminConfig(), spec)
}

// warnedAs is what the API server says to a user.
func warnedAs(ctx context.Context, f *suite.Fixture, g Gomega, who *rest.Config, spec clusterv1beta1.PlacementSpec) []string {
	heard := &warnings{texts: []string{}}
	config := rest.CopyConfig(who)
	config.WarningHandler = heard
	user, err := client.New(config, client.Options{Scheme: system.Scheme(), Mapper: suite.Client.RESTMapper()})
	g.Expect(err).NotTo(HaveOccurred())
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "tried"}, Spec: spec}
	g.Expect(client.NewDryRunClient(user).Create(ctx, placement)).To(Succeed())
	return heard.texts
}

// expectWarned waits until making this placement is answered with exactly these warnings.
func expectWarned(ctx context.Context, f *suite.Fixture, spec clusterv1beta1.PlacementSpec, want ...string) {
	GinkgoHelper()
	if want == nil {
		want = []string{}
	}
	Eventually(func(g Gomega) []string { return warned(ctx, f, g, spec) }).
		WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Equal(want))
}

// vocabularyWrites are the requests of the hub that write the ConfigMap.
func vocabularyWrites(g Gomega) []string {
	writes := []string{}
	for _, write := range suite.HubWrites(g, func(namespace string) bool { return namespace == manifests.Namespace }) {
		if strings.Contains(write, "configmaps") {
			writes = append(writes, write)
		}
	}
	return writes
}

var _ = Describe("What a placement names and the fleet does not have", func() {
	const inFirstPredicate = "spec.predicates[0].requiredClusterSelector."
	It("warns of a set that is not bound until it is", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		spec := clusterv1beta1.PlacementSpec{ClusterSets: f.Names("set", "blue")}
		blue := f.Name("blue")
		expectWarned(ctx, f, spec, fmt.Sprintf(
			"spec.clusterSets[1]: Invalid value: %q: is not bound to the namespace yet: create a ManagedClusterSetBinding named %s, "+
				"unless it was created just now", blue, blue))

		f.Placement(ctx, "p", spec)
		f.ExpectSelected(ctx, "p", suite.AllSetsEmpty)
		binding := f.Bind(ctx, "blue")
		expectWarned(ctx, f, spec)

		Expect(suite.Client.Delete(ctx, binding)).To(Succeed())
		Eventually(func(g Gomega) []string { return warned(ctx, f, g, spec) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(HaveLen(1))
		Expect(warned(ctx, f, Default, clusterv1beta1.PlacementSpec{})).To(BeEmpty(), "it names nothing")
		elsewhere := suite.NewFixture(ctx)
		expectWarned(ctx, elsewhere, clusterv1beta1.PlacementSpec{ClusterSets: f.Names("set")}, fmt.Sprintf(
			"spec.clusterSets[0]: Invalid value: %q: is not bound to the namespace yet: create a ManagedClusterSetBinding named %s, "+
				"unless it was created just now",
			f.Name("set"), f.Name("set")))
	})

	It("tells of labels and claims to nobody who may not list clusters: they may be those of sets that are not bound", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		tenant, err := suite.ControlPlane.UserConfig(f.Name("tenant"))
		Expect(err).NotTo(HaveOccurred())
		user := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: f.Name("tenant")}
		f.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "edits"}, Subjects: []rbacv1.Subject{user},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		})

		probe := suite.Matching(clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"example.com/" + f.Name("a"): "x"}},
			ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: f.Name("claim"), Operator: metav1.LabelSelectorOpExists},
			}},
		}})
		probe.ClusterSets = f.Names("blue")

		Eventually(func(g Gomega) []string { return warned(ctx, f, g, probe) }).
			WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(HaveLen(3), "an administrator is warned of all three")
		Eventually(func(g Gomega) []string { return warnedAs(ctx, f, g, tenant, probe) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(ConsistOf(ContainSubstring("is not bound to the namespace yet")))

		bindRole(ctx, f, user, "open-cluster-management:placement-hub:fleet-view")
		Eventually(func(g Gomega) []string { return warnedAs(ctx, f, g, tenant, probe) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(HaveLen(3), "who may list clusters is warned of all three")
	})

	It("warns of a label that no cluster has until one has it, where a predicate needs it", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		key := "example.com/" + f.Name("regoin")
		words := fmt.Sprintf("Invalid value: %q: no cluster has this label yet: check the spelling, or label a ManagedCluster", key)
		needing := func(operator metav1.LabelSelectorOperator, values ...string) clusterv1beta1.PlacementSpec {
			return suite.Matching(clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: key, Operator: operator, Values: values},
				}},
			}})
		}

		expectWarned(ctx, f, suite.Matching(suite.ByLabel(key, "eu")), inFirstPredicate+"labelSelector.matchLabels: "+words)
		expectWarned(ctx, f, needing("In", "eu"), inFirstPredicate+"labelSelector.matchExpressions[0].key: "+words)
		expectWarned(ctx, f, needing("Exists"), inFirstPredicate+"labelSelector.matchExpressions[0].key: "+words)
		expectWarned(ctx, f, needing("NotIn", "eu"))
		expectWarned(ctx, f, needing("DoesNotExist"))

		f.Cluster(ctx, "", "c001")
		f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels[key] = "another" })
		expectWarned(ctx, f, suite.Matching(suite.ByLabel(key, "eu")))

		f.DeleteCluster(ctx, "c001")
		expectWarned(ctx, f, needing("Exists"), inFirstPredicate+"labelSelector.matchExpressions[0].key: "+words)
	})

	It("warns of a claim that no cluster has until one reports it", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		key := "arn of " + f.Namespace
		spec := suite.Matching(suite.ByClaim(key, metav1.LabelSelectorOpIn, "a"), suite.ByClaim(key, metav1.LabelSelectorOpNotIn, "a"))
		expectWarned(ctx, f, spec, inFirstPredicate+"claimSelector.matchExpressions[0].key: "+
			fmt.Sprintf("Invalid value: %q: no cluster has this claim yet: check the spelling, or have a cluster report it", key))
		f.Cluster(ctx, "", "c001", suite.Claiming(key, "b"))
		expectWarned(ctx, f, spec)
	})

	It("warns of a taint that no cluster has until one has it, but not of those that controllers add for a time", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		key := "example.com/" + f.Name("gpu")
		tolerating := func(tolerations ...clusterv1beta1.Toleration) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{Tolerations: tolerations}
		}
		words := func(taint string) string {
			return fmt.Sprintf("spec.tolerations[0]: Invalid value: %q: no cluster has this taint yet: "+
				"check the spelling, or taint a ManagedCluster", taint)
		}
		anyValue := tolerating(clusterv1beta1.Toleration{Key: key, Operator: clusterv1beta1.TolerationOpExists})
		value := tolerating(clusterv1beta1.Toleration{Key: key, Value: "a100"})
		expectWarned(ctx, f, anyValue, words(key))
		expectWarned(ctx, f, value, words(key+"=a100"))
		expectWarned(ctx, f, tolerating(
			clusterv1beta1.Toleration{Key: clusterv1.ManagedClusterTaintUnreachable, Operator: clusterv1beta1.TolerationOpExists},
			clusterv1beta1.Toleration{Operator: clusterv1beta1.TolerationOpExists}))

		f.Cluster(ctx, "", "c001")
		f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) {
			c.Spec.Taints = []clusterv1.Taint{{Key: key, Value: "a10", Effect: clusterv1.TaintEffectNoSelect}}
		})
		expectWarned(ctx, f, anyValue)
		expectWarned(ctx, f, value, words(key+"=a100"))
	})

	It("warns of a decision group that no cluster can be in", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		key := "example.com/" + f.Name("canary")
		spec := clusterv1beta1.PlacementSpec{}
		spec.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{{
			GroupName: "canary", ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: "true"}},
			},
		}}
		expectWarned(ctx, f, spec, "spec.decisionStrategy.groupStrategy.decisionGroups[0].groupClusterSelector: "+
			fmt.Sprintf("Invalid value: %q: no cluster has this label or claim yet, so that the group is empty: check the spelling", key))
		f.Cluster(ctx, "", "c001", suite.Labeled(key, "false"))
		expectWarned(ctx, f, spec)
	})

	It("warns of a predicate without requirements beside others, whoever asks", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Cluster(ctx, "", "c001", suite.Labeled(f.Name("region"), "eu"))
		region := suite.ByLabel(f.Name("region"), "eu")
		expectWarned(ctx, f, suite.Matching(region, clusterv1beta1.ClusterPredicate{}),
			"spec.predicates[1]: Invalid value: {}: has no requirement and matches every cluster, so that the other predicates have no effect: "+
				"remove it, or write what it requires")
		expectWarned(ctx, f, suite.Matching(region, region))
		expectWarned(ctx, f, suite.Matching(clusterv1beta1.ClusterPredicate{}))
	})

	It("does not ask for the bindings of a namespace that is as young as the placement", func(ctx SpecContext) {
		settled := suite.NewFixture(ctx)
		spec := clusterv1beta1.PlacementSpec{ClusterSets: settled.Names("absent")}
		Eventually(func(g Gomega) []string { return warned(ctx, settled, g, spec) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(HaveLen(1))

		young := suite.NewFixture(ctx)
		Expect(warned(ctx, young, Default, spec)).To(BeEmpty())
		Eventually(func(g Gomega) []string { return warned(ctx, young, g, spec) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(HaveLen(1))
	})

	It("counts the Placements that a change of a set or binding affects, and names none", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.Set(ctx, "set")
		// The count that has the last two has the first one.
		f.Placement(ctx, "other", clusterv1beta1.PlacementSpec{ClusterSets: f.Names("other")})
		f.Placement(ctx, "any", clusterv1beta1.PlacementSpec{})
		f.Placement(ctx, "named", clusterv1beta1.PlacementSpec{ClusterSets: f.Names("set")})

		heardBy := func(g Gomega, do func(client.Client) error) []string {
			heard := &warnings{texts: []string{}}
			config := rest.CopyConfig(suite.ControlPlane.AdminConfig())
			config.WarningHandler = heard
			user, err := client.New(config, client.Options{Scheme: system.Scheme(), Mapper: suite.Client.RESTMapper()})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(do(client.NewDryRunClient(user))).To(Succeed())
			return heard.texts
		}
		binding := func(short string) *clusterv1beta2.ManagedClusterSetBinding {
			return &clusterv1beta2.ManagedClusterSetBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name(short)},
				Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: f.Name(short)},
			}
		}
		patching := func(body string) func(client.Client) error {
			return func(user client.Client) error {
				return user.Patch(ctx, set.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(body)))
			}
		}
		ofNamespace := func(affected int) OmegaMatcher {
			return ConsistOf(HavePrefix(fmt.Sprintf("this change affects %d of 3 Placements of namespace %s, ", affected, f.Namespace)))
		}
		const edited = `{"spec":{"clusterSelector":{"selectorType":"LabelSelector","labelSelector":{"matchLabels":{"a":"b"}}}}}`
		// The hub counts Placements twice a minute.
		Eventually(func(g Gomega) []string { return heardBy(g, patching(edited)) }).WithContext(ctx).WithTimeout(suite.CollectTimeout).
			Should(ConsistOf(
				MatchRegexp(`^this change affects 2 of \d+ Placements, which may gain or lose clusters: placement diff says how many do$`),
			))
		Expect(heardBy(Default, patching(`{"metadata":{"labels":{"a":"b"}}}`))).To(BeEmpty())
		Expect(heardBy(Default, func(user client.Client) error { return user.Delete(ctx, binding("set")) })).To(ofNamespace(2))
		Expect(heardBy(Default, func(user client.Client) error { return user.Create(ctx, binding("third")) })).To(ofNamespace(1))
	})

	It("warns when a spec changes, not when it stays", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		spec := clusterv1beta1.PlacementSpec{ClusterSets: f.Names("absent")}
		expectWarned(ctx, f, spec, fmt.Sprintf(
			"spec.clusterSets[0]: Invalid value: %q: is not bound to the namespace yet: create a ManagedClusterSetBinding named %s, "+
				"unless it was created just now",
			f.Name("absent"), f.Name("absent")))
		placement := f.Placement(ctx, "p", spec)

		heard := &warnings{}
		config := rest.CopyConfig(suite.ControlPlane.AdminConfig())
		config.WarningHandler = heard
		user, err := client.New(config, client.Options{Scheme: system.Scheme(), Mapper: suite.Client.RESTMapper()})
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

var _ = Describe("The vocabulary", func() {
	It("holds each word of the fleet once, and follows it", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Bind(ctx, "two")
		f.Bind(ctx, "one")
		f.Cluster(ctx, "", "c001", suite.Labeled(f.Name("label"), ""), suite.Claiming(f.Name("claim"), ""))
		f.Cluster(ctx, "", "c002", suite.Labeled(f.Name("label"), "other"))

		count := func(list, word string) int {
			return strings.Count("\n"+list+"\n", "\n"+word+"\n")
		}
		Eventually(func(g Gomega) {
			data := suite.ReadVocabulary(ctx, g).Data
			g.Expect(count(data["labels"], f.Name("label"))).To(Equal(1))
			g.Expect(count(data["claims"], f.Name("claim"))).To(Equal(1))
			g.Expect(data).To(HaveKeyWithValue("bound."+f.Namespace, f.Name("one")+"\n"+f.Name("two")))
			g.Expect(data).To(HaveKey("bound"))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		Expect(suite.Client.DeleteAllOf(ctx, &clusterv1beta2.ManagedClusterSetBinding{}, client.InNamespace(f.Namespace))).To(Succeed())
		f.DeleteCluster(ctx, "c001")
		f.DeleteCluster(ctx, "c002")
		Eventually(func(g Gomega) {
			data := suite.ReadVocabulary(ctx, g).Data
			g.Expect(count(data["labels"], f.Name("label")) + count(data["claims"], f.Name("claim"))).To(BeZero())
			g.Expect(data).NotTo(HaveKey("bound." + f.Namespace))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("B6: is written about once a second in a storm, and not at all when no word changes", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Cluster(ctx, "", "c001")

		suite.ExpectVocabulary(ctx)
		before := len(suite.AwaitUnchanged(ctx, vocabularyWrites))
		began := time.Now()
		for i := range 60 {
			f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels[fmt.Sprintf("%s-%03d", f.Namespace, i)] = "" })
		}
		last := f.Namespace + "-059"
		suite.ExpectVocabulary(ctx)

		elapsed := int(time.Since(began).Seconds())
		written := len(suite.AwaitUnchanged(ctx, vocabularyWrites)) - before
		Expect(written).To(And(BeNumerically(">", 0), BeNumerically("<=", elapsed+2)))
		settled := suite.AwaitUnchanged(ctx, vocabularyWrites)
		f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Labels[last] = "another" })

		fresh := &clusterv1.ManagedCluster{}
		Expect(suite.Client.Get(ctx, client.ObjectKey{Name: f.Name("c001")}, fresh)).To(Succeed())
		f.WriteStatus(ctx, fresh, clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Beat", LastTransitionTime: metav1.Now(),
		}}})
		Consistently(vocabularyWrites).
			WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Equal(settled))
	})

	It("comes back when it is edited or deleted, and without it nobody is warned", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Bind(ctx, "set")
		Eventually(func(g Gomega) { g.Expect(suite.ReadVocabulary(ctx, g).Data).To(HaveKey("bound." + f.Namespace)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		whole := suite.ReadVocabulary(ctx, Default)
		suite.Edit(ctx, whole, func(c *corev1.ConfigMap) {
			delete(c.Data, "bound."+f.Namespace)
			c.Data["foreign"] = "word"
			c.Labels = map[string]string{"example.com/kept": "true"}
		})
		Eventually(func(g Gomega) {
			seen := suite.ReadVocabulary(ctx, g)
			g.Expect(seen.Data).To(Equal(whole.Data))
			g.Expect(seen.Labels).To(HaveKey("example.com/kept"))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		suite.StopHub()
		Expect(suite.Client.Delete(ctx, whole)).To(Succeed())
		spec := clusterv1beta1.PlacementSpec{ClusterSets: f.Names("absent")}
		expectWarned(ctx, f, spec)
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		Eventually(func(g Gomega) { g.Expect(suite.ReadVocabulary(ctx, g).Data).To(Equal(whole.Data)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Eventually(func(g Gomega) []string { return warned(ctx, f, g, spec) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(HaveLen(1))
	})
})
