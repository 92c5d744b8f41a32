// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

func by(key string, values ...string) map[string]string {
	return map[string]string{
		federation.SelectorAnnotation: fmt.Sprintf(`[{"key":%q,"operator":"in","values":[%q]}]`, key, strings.Join(values, `","`)),
	}
}

func placed(name string) map[string]string {
	return map[string]string{federation.PlacementAnnotation: name}
}

const (
	unknownKey = "annotation federation.alpha.kubernetes.io/cluster-selector: key \"locaton\" is a label of none of the 5 clusters in scope; " +
		"did you mean \"location\"? Correct the key, or label the clusters"
	heldBySelector = "federation: the new selector matches none of the 5 clusters in scope, so the object stays in 2 clusters: eu1, eu2; " +
		"restore the former annotations, or confirm the change"
)

// docs/spec/trust.md 7.2, typing errors.
func TestWarningsAboutClusters(t *testing.T) {
	for _, tc := range []struct {
		reason, kind  string
		before, after map[string]string
		edit          func(*world)
		want          []string
	}{
		{reason: "a new object of known labels", after: by("location", "europe")},
		{reason: "a new object with a key of no cluster", after: by("locaton", "europe"), want: []string{unknownKey}},
		{
			reason: "a key that is similar to none", after: by("tier", "gold"),
			want: []string{"annotation federation.alpha.kubernetes.io/cluster-selector: key \"tier\" is a label of none of the 5 clusters " +
				"in scope; correct the key, or label the clusters"},
		},
		{
			reason: "a value near one", after: by("location", "eurpoe"),
			want: []string{"annotation federation.alpha.kubernetes.io/cluster-selector: no cluster in scope has location=eurpoe; " +
				"did you mean europe (4 clusters)? Correct the value, or label the clusters"},
		},
		{
			reason: "a selector of other clusters withdraws", kind: "Service", before: by("location", "europe"), after: by("location", "usa"),
			edit: func(w *world) { w.works = []string{"eu1", "eu2", "eu3", "eu4"} },
			want: []string{"federation: this change withdraws the object from 4 clusters: eu1, eu2, eu3 and 1 more; " +
				"to keep it there, restore the former annotations"},
		},
		{
			reason: "a workload may still propagate a ConfigMap", before: by("location", "europe"), after: by("location", "usa"),
			edit: func(w *world) { w.works = []string{"eu1"} },
			want: []string{"federation: this change withdraws the object from 1 cluster: eu1, except where a workload propagates it; " +
				"to keep it there, restore the former annotations"},
		},
		{
			reason: "U4: a typing error is held, with the annotation that releases it",
			before: by("location", "europe"), after: by("locaton", "europe"),
			edit: func(w *world) { w.works = []string{"eu1", "eu2"} },
			want: []string{unknownKey, heldBySelector,
				"federation: to withdraw the object all the same, set the annotation " + removalbudget.ReleaseAnnotation + "=<token>"},
		},
		{
			reason: "an update that leaves the annotations warns of the key alone", before: by("locaton", "europe"), after: by("locaton", "europe"),
			edit: func(w *world) { w.works = []string{"eu1"} }, want: []string{unknownKey},
		},
		{
			reason: "no cluster in scope", after: by("locaton", "europe"),
			edit: func(w *world) { w.inventory.DeleteBinding("team-a", "members") },
		},
		{
			reason: "the caches are not complete", before: by("location", "europe"), after: by("locaton", "europe"),
			edit: func(w *world) { w.works, w.incomplete = []string{"eu1"}, true },
		},
		{
			reason: "nothing can be read", before: by("location", "europe"), after: by("locaton", "europe"),
			edit: func(w *world) { w.works, w.err = []string{"eu1"}, errUnread },
		},
		{
			reason: "a Placement that exists", after: placed("web"),
			edit: func(w *world) { w.placements["web"] = federation.Decisions{Clusters: []string{"eu1"}} },
		},
		{
			reason: "P9: a misspelt Placement", before: by("location", "europe"), after: placed("wbe"),
			edit: func(w *world) {
				w.works = []string{"eu1"}
				w.placements["web"] = federation.Decisions{Clusters: []string{"us1"}}
			},
			want: []string{"annotation placement.open-cluster-management.io/placement: there is no Placement \"wbe\" in this namespace; " +
				"did you mean \"web\"? Correct the name, or create it: until then nothing is delivered or withdrawn"},
		},
		{
			reason: "another Placement withdraws", kind: "Service", before: by("location", "europe"), after: placed("web"),
			edit: func(w *world) {
				w.works = []string{"eu1"}
				w.placements["web"] = federation.Decisions{Clusters: []string{"us1"}}
			},
			want: []string{"federation: this change withdraws the object from 1 cluster: eu1; to keep it there, restore the former annotations"},
		},
		{
			reason: "the defaults of a Namespace", kind: namespaceKind, before: by("location", "europe"), after: by("location", "usa"),
			want: []string{"federation: this change withdraws each object that follows the namespace from 4 clusters: eu1, eu2, eu3 and 1 more; " +
				"to keep it there, restore the former annotations"},
		},
		{
			reason: "a typing error in the defaults of a Namespace", kind: namespaceKind, before: by("location", "usa"), after: by("locaton", "usa"),
			want: []string{unknownKey, "federation: the new selector matches none of the 5 clusters in scope, so each object that follows " +
				"the namespace stays in 1 cluster: us1; restore the former annotations, or see placement federated for what withdraws an object"},
		},
		{
			reason: "federated-selector 3.1.6: replicas that no cluster gets", kind: "Deployment",
			after: map[string]string{federation.DeploymentPreferencesAnnotation: `{"clusters":{"us1":{"weight":1,"maxReplicas":6}}}`},
			edit: func(w *world) {
				w.replicas = 15
				for _, name := range []string{"eu2", "eu3", "eu4"} {
					w.inventory.DeleteCluster(name)
				}
				us1 := newCluster("us1", map[string]string{clusterv1beta2.ClusterSetLabel: "members"})
				us1.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
				w.inventory.SetCluster(us1)
			},
			want: []string{"federation: 9 of 15 replicas have no cluster: maxReplicas of us1; missing preference of eu1; " +
				"change the preferences, or select more clusters"},
		},
		{reason: "a new Namespace has no Placement yet", kind: namespaceKind, after: placed("web")},
		{
			reason: "a kind that is not delivered", kind: "Pod", after: by("locaton", "europe"),
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld()
			if tc.edit != nil {
				tc.edit(w)
			}
			if tc.kind == "" {
				tc.kind = "ConfigMap"
			}
			response := w.review(t, tc.kind, tc.before, tc.after)

			got := response.Warnings
			for i := range got {
				if before, _, is := strings.Cut(got[i], removalbudget.ReleaseAnnotation+"="); is {
					got[i] = before + removalbudget.ReleaseAnnotation + "=<token>"
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}

			if unread := strings.Contains(response.Result.Message, errUnread.Error()); unread != (w.err != nil) {
				t.Errorf("the review says %q", response.Result.Message)
			}
		})
	}
}

// The token of the warning releases the withdrawal.
func TestTheTokenOfTheWarningReleases(t *testing.T) {
	w := newWorld()
	w.works = []string{"eu1"}
	warnings := w.review(t, "ConfigMap", by("location", "europe"), by("locaton", "europe")).Warnings
	_, token, _ := strings.Cut(warnings[len(warnings)-1], removalbudget.ReleaseAnnotation+"=")
	released := by("locaton", "europe")
	released[removalbudget.ReleaseAnnotation] = token
	warnings = w.review(t, "ConfigMap", by("location", "europe"), released).Warnings
	if len(warnings) != 2 || !strings.Contains(warnings[1], "withdraws the object from 1 cluster: eu1") {
		t.Errorf("token %q: %q", token, warnings)
	}
}

// A new object that finds works beside its selector may be held by the budget.
func TestTheBudgetKeepsWorks(t *testing.T) {
	w := newWorld()
	w.works, w.hub.Limits.Percent = []string{"eu1", "eu2", "us1"}, 30
	warnings := w.review(t, "Service", nil, by("location", "usa")).Warnings
	if len(warnings) != 2 || !strings.Contains(warnings[0], "the removal budget of 30% keeps the object in 2 clusters: eu1, eu2") ||
		!strings.Contains(warnings[1], removalbudget.ReleaseAnnotation) {
		t.Errorf("%q", warnings)
	}
}

// All warnings together are as long as an API server permits at most.
func TestWarningsFit(t *testing.T) {
	w := newWorld()
	w.works = []string{"eu1", "eu2"}

	requirements := make([]string, 0, 20)
	for i := range 20 {
		requirements = append(requirements, fmt.Sprintf(`{"key":"%s%d","operator":"exists"}`, strings.Repeat("k", 50), i))
	}
	after := map[string]string{federation.SelectorAnnotation: "[" + strings.Join(requirements, ",") + "]"}
	for _, name := range []string{ // None has an effect on a ConfigMap.
		"federation.kubernetes.io/job-preferences", "federation.kubernetes.io/hpa-target-cluster-list",
		"federation.kubernetes.io/service-ingresses", "federation.kubernetes.io/cluster-role-name",
		"federation.kubernetes.io/servive-account-name", "federation.alpha.kubernetes.io/federation-name",
		"federation.alpha.kubernetes.io/cluster-name", federation.DeploymentPreferencesAnnotation,
		federation.ReplicaSetPreferencesAnnotation, federation.OrphanAnnotation, federation.PropagateDependenciesAnnotation,
	} {
		after[name] = strings.Repeat("a", 40)
	}

	warnings := w.review(t, "ConfigMap", by("location", "europe"), after).Warnings
	if len(warnings)*webhook.MaxWarningBytes > 4096 || !strings.Contains(warnings[3], "17 more keys are labels of none") ||
		!strings.HasSuffix(warnings[len(warnings)-1], "more warnings") {
		t.Errorf("%d: %q", len(warnings), warnings)
	}
}

// docs/spec/trust.md R5: what a review costs is bounded by the limits of selectors and warnings, whatever clusters there are.
func BenchmarkReview(b *testing.B) {
	w := newWorld()
	for i := range 10_000 {
		w.inventory.SetCluster(newCluster(fmt.Sprintf("c%05d", i), map[string]string{
			clusterv1beta2.ClusterSetLabel: "members", "location": "asia", fmt.Sprintf("unique-%d", i): "",
		}))
	}
	w.works = []string{"eu1", "eu2"}
	for b.Loop() {
		w.review(b, "ConfigMap", by("location", "europe"), by("locaton", "europe"))
	}
}
