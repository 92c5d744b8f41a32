// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/env"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const rulesFile = "../../../deploy/monitoring/prometheusrule.yaml"

// Series of the hub.
const (
	misconfigured = "placement_hub_misconfigured_placements{}"
	celErrors     = "placement_hub_cel_errors{}"
	staleScores   = "placement_hub_stale_scores{}"
	stalled       = "placement_hub_stalled_placements{}"
	failedWrites  = `placement_hub_writes_total{kind="create",result="error"}`
	unreadable    = `placement_hub_unreadable_objects{group="cluster.open-cluster-management.io",kind="ManagedCluster"}`
)

// mendedStatus takes away what is unreadable.
const mendedStatus = `{"status":{"allocatable":null}}`

// How many minutes each scrape stands for.
const (
	healthyMinutes = 30
	brokenMinutes  = 60
	mendedMinutes  = 30
)

var _ = Describe("Alerts over scrapes", func() {
	It("fire while their cause is there", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Placement(ctx, "all", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "all", "True AllDecisionsScheduled", suite.Shorts(1, 2)...)
		f.LabelClusters(ctx, "held", "yes", suite.Shorts(1, 2)...)
		f.Placement(ctx, "held", suite.Matching(suite.ByLabel("held", "yes")))
		f.Annotate(ctx, "held", "placement-hub.open-cluster-management.io/max-removal-percent", "0")
		f.ExpectSelected(ctx, "held", "True AllDecisionsScheduled", suite.Shorts(1, 2)...)

		var healthy, broken, later, mended scrape

		await(ctx, &healthy, func(g Gomega, s scrape) { g.Expect(s.unsatisfied()).To(BeEmpty()) })

		unbound := suite.NewFixture(ctx)
		unbound.Placement(ctx, "unbound", clusterv1beta1.PlacementSpec{})
		f.Score(ctx, suite.Shorts(1, 1)[0], 1, ptr.To(metav1.NewTime(time.Now().Add(-time.Hour))))
		f.Placement(ctx, "scored", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: suite.Exactly(suite.DemoScore(1)),
		})
		f.Placement(ctx, "failing", suite.Matching(suite.ByCEL(`managedCluster.metadata.labels["no"] == "such"`)))
		f.Placement(ctx, "broken", suite.Matching(suite.ByCEL(`1 +`)))
		f.LabelClusters(ctx, "held", "no", suite.Shorts(1, 1)...)
		full := suite.NewFixture(ctx)
		full.BindAny(ctx, f.Name("set"))
		quota := full.ForbidPages(ctx, api.V1beta1.Codec(), 0)
		full.Placement(ctx, "unwritten", clusterv1beta1.PlacementSpec{})
		allowUnreadable(ctx)

		spoilt := f.Name(suite.Shorts(2, 2)[0])
		patchStatus(ctx, spoilt, `{"status":{"allocatable":{"cpu":"1e1.5"}}}`)
		DeferCleanup(func(ctx SpecContext) { patchStatus(ctx, spoilt, mendedStatus) }) // The fixture could not read it.

		await(ctx, &broken, func(g Gomega, s scrape) {
			g.Expect(s.unsatisfied()).To(HaveKeyWithValue("NoManagedClusterSetBindings", 1.))
			g.Expect(s.value(misconfigured)).To(Equal(1.))
			g.Expect(s.value(celErrors)).To(Equal(2.))
			g.Expect(s.value(staleScores)).To(Equal(1.))
			g.Expect(s.value(stalled)).To(Equal(2.), "the misconfigured one, and that with RemovalHeld")
			g.Expect(s.value(unreadable)).To(Equal(1.))
			g.Expect(s.value(failedWrites)).To(BeNumerically(">", 0))
		})
		await(ctx, &later, func(g Gomega, s scrape) {
			g.Expect(s.value(failedWrites)).To(BeNumerically(">", broken.value(failedWrites)))
		})

		for _, name := range []string{"scored", "failing", "broken"} {
			Expect(suite.Client.Delete(ctx, f.PlacementNamed(name))).To(Succeed())
		}

		Expect(suite.Client.Delete(ctx, quota)).To(Succeed())
		Expect(suite.Client.Delete(ctx, full.PlacementNamed("unwritten"))).To(Succeed())
		f.LabelClusters(ctx, "held", "yes", suite.Shorts(1, 1)...)
		patchStatus(ctx, spoilt, mendedStatus)
		Expect(suite.Client.Delete(ctx, unbound.PlacementNamed("unbound"))).To(Succeed())

		await(ctx, &mended, func(g Gomega, s scrape) {
			g.Expect(s.unsatisfied()).To(BeEmpty())

			for _, series := range []string{misconfigured, celErrors, staleScores, stalled, unreadable} {
				g.Expect(s.value(series)).To(BeZero(), series)
			}
		})

		alerts := map[string][]any{
			"PlacementsMisconfigured":  {expected("PlacementsMisconfigured", nil, "$value", "1")},
			"PlacementExpressionsFail": {expected("PlacementExpressionsFail", nil, "$value", "2")},
			"PlacementScoresStale":     {expected("PlacementScoresStale", nil, "$value", "1")},
			"PlacementsAreStalled":     {expected("PlacementsAreStalled", nil, "$value", "2")},
			"UnreadableObjects": {expected("UnreadableObjects", map[string]string{
				"group": clusterv1.GroupName, "kind": "ManagedCluster",
			}, "$value", "1", "$labels.kind", "ManagedCluster")},
			"PlacementsLoseClusters": nil,
			"PlacementWritesFail": {expected("PlacementWritesFail", map[string]string{"kind": "create"},
				"$labels.kind", "create")},
			"PlacementAnswersDiverge": nil,
		}
		for reason, count := range broken.unsatisfied() {
			alerts["PlacementsUnsatisfied"] = append(alerts["PlacementsUnsatisfied"], expected("PlacementsUnsatisfied",
				map[string]string{"reason": reason}, "$value", text(count), "$labels.reason", reason))
		}

		evaluate(ctx, healthy, broken, later, mended, alerts)
	})
})

// allowUnreadable takes the policies away that refuse what Go cannot decode, until the end of the spec.
func allowUnreadable(ctx context.Context) {
	GinkgoHelper()

	policies := &admissionregistrationv1.ValidatingAdmissionPolicyBindingList{}
	Expect(suite.Client.List(ctx, policies)).To(Succeed())

	for _, policy := range policies.Items {
		if strings.Contains(policy.Name, "readable") {
			Expect(suite.Client.Delete(ctx, &policy)).To(Succeed())
		}
	}

	DeferCleanup(func(ctx SpecContext) { Expect(manifests.Install(ctx, suite.ControlPlane.AdminConfig())).To(Succeed()) })
}

// patchStatus patches the status of a ManagedCluster, by an object that has no Go type: a client that decodes would fail on the answer.
func patchStatus(ctx context.Context, cluster, patch string) {
	GinkgoHelper()

	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"))
	object.SetName(cluster)

	Eventually(func() error {
		return suite.Client.SubResource("status").Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// await scrapes until a check succeeds.
func await(ctx context.Context, found *scrape, check func(Gomega, scrape)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		*found = newScrape(g)
		check(g, *found)
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// rules has the groups of the PrometheusRule, as Prometheus reads them.
type rules struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert,omitempty"`
			Record      string            `json:"record,omitempty"`
			Expr        string            `json:"expr"`
			For         string            `json:"for,omitempty"`
			Labels      map[string]string `json:"labels,omitempty"`
			Annotations map[string]string `json:"annotations,omitempty"`
		} `json:"rules"`
	} `json:"groups"`
}

func readRules() rules {
	GinkgoHelper()

	content, err := os.ReadFile(rulesFile)
	Expect(err).NotTo(HaveOccurred())

	var found struct {
		Spec rules `json:"spec"`
	}

	Expect(yaml.Unmarshal(content, &found)).To(Succeed())

	return found.Spec
}

// expected returns an alert of the rules with its labels and annotations, in which pairs of words are replaced.
func expected(alert string, labels map[string]string, words ...string) any {
	GinkgoHelper()

	for _, group := range readRules().Groups {
		for _, rule := range group.Rules {
			if rule.Alert != alert {
				continue
			}

			all := maps.Clone(rule.Labels)
			maps.Copy(all, labels)

			for i := 0; i+1 < len(words); i += 2 {
				rule.Annotations["summary"] = strings.ReplaceAll(rule.Annotations["summary"], "{{ "+words[i]+" }}", words[i+1])
			}

			return map[string]any{"exp_labels": all, "exp_annotations": rule.Annotations}
		}
	}

	Fail("there is no alert " + alert)

	return nil
}

// evaluate has promtool evaluate the rules over the scrapes, and expects the alerts at the end of the broken ones alone. A minute of these
// counts what the hub has counted between the two.
func evaluate(ctx context.Context, healthy, broken, later, mended scrape, alerts map[string][]any) {
	GinkgoHelper()

	promtool, err := env.FindPromtool()
	Expect(err).NotTo(HaveOccurred())

	names := maps.Clone(healthy)
	maps.Copy(names, broken)
	maps.Copy(names, mended)

	var series, tests []any
	for _, name := range slices.Sorted(maps.Keys(names)) {
		series = append(series, map[string]string{"series": name, "values": strings.Join([]string{
			healthy.repeated(name, healthyMinutes), broken.growing(later, name, brokenMinutes), mended.repeated(name, mendedMinutes),
		}, " ")})
	}

	for alert, whileBroken := range alerts {
		for at, want := range map[string][]any{"29m": nil, "89m": whileBroken, "119m": nil} {
			tests = append(tests, map[string]any{"alertname": alert, "eval_time": at, "exp_alerts": want})
		}
	}

	directory := GinkgoT().TempDir()
	for file, content := range map[string]any{
		"rules.yaml": readRules(),
		"cases.yaml": map[string]any{
			"rule_files": []string{"rules.yaml"}, "evaluation_interval": "1m",
			"tests": []any{map[string]any{"interval": "1m", "input_series": series, "alert_rule_test": tests}},
		},
	} {
		encoded, err := yaml.Marshal(content)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(directory, file), encoded, 0o600)).To(Succeed())
	}

	command := exec.CommandContext(ctx, promtool, "test", "rules", "cases.yaml")
	command.Dir = directory
	output, err := command.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "promtool: %s", output)
}
