// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

const (
	europe  = `[{"key":"location","operator":"in","values":["europe"]}]`
	usa     = `[{"key":"location","operator":"in","values":["usa"]}]`
	mistype = `[{"key":"locaton","operator":"in","values":["europe"]}]`
)

// docs/spec/trust.md 7.2, typing errors: a change is known by the clusters that it withdraws from, and by those that the hub keeps.
func TestChangeFrom(t *testing.T) {
	for _, tc := range []struct {
		reason        string
		isNew         bool
		before, after map[string]string
		works         []string
		percent       *int
		want          Change
	}{
		{
			reason: "another selector withdraws", before: map[string]string{SelectorAnnotation: europe},
			after: map[string]string{SelectorAnnotation: usa}, works: []string{"eu1", "eu2"}, want: Change{Withdrawn: []string{"eu1", "eu2"}},
		},
		{
			reason: "a selector of more clusters withdraws nothing", before: map[string]string{SelectorAnnotation: europe},
			after: map[string]string{SelectorAnnotation: "[]"}, works: []string{"eu1", "eu2"},
		},
		{
			reason: "what is withdrawn anyway is no part of the change", before: map[string]string{SelectorAnnotation: europe},
			after: map[string]string{SelectorAnnotation: europe, OrphanAnnotation: "true"}, works: []string{"eu1", "us1"},
		},
		{
			reason: "a selector that matches no cluster is held", before: map[string]string{SelectorAnnotation: europe},
			after: map[string]string{SelectorAnnotation: mistype}, works: []string{"eu1", "eu2"},
			want: Change{Kept: []string{"eu1", "eu2"}, MatchesNone: true},
		},
		{
			reason: "and is released by the annotation", before: map[string]string{SelectorAnnotation: europe},
			after: map[string]string{SelectorAnnotation: mistype, removalbudget.ReleaseAnnotation: "d1"}, works: []string{"eu1"},
			want: Change{Withdrawn: []string{"eu1"}, MatchesNone: true},
		},
		{
			reason: "objects of the control plane alone are withdrawn", before: map[string]string{SelectorAnnotation: europe},
			after: map[string]string{SelectorAnnotation: ControlPlaneOnly}, works: []string{"eu1"}, want: Change{Withdrawn: []string{"eu1"}},
		},
		{
			reason: "a selector that is corrected changes what is withdrawn", before: map[string]string{SelectorAnnotation: "{"},
			after: map[string]string{SelectorAnnotation: usa}, works: []string{"eu1"}, want: Change{Withdrawn: []string{"eu1"}},
		},
		{
			reason: "an invalid selector withdraws nothing", before: map[string]string{SelectorAnnotation: europe},
			after: map[string]string{SelectorAnnotation: "{"}, works: []string{"eu1"},
		},
		{
			reason: "a cluster that has left the scope is no part of the change", before: map[string]string{SelectorAnnotation: europe},
			after: map[string]string{SelectorAnnotation: usa}, works: []string{"eu1", "gone"}, want: Change{Withdrawn: []string{"eu1"}},
		},
		{reason: "a new object has no former selector", isNew: true, after: map[string]string{SelectorAnnotation: mistype}, works: []string{"eu1"},
			want: Change{Kept: []string{"eu1"}, MatchesNone: true}},
		{
			reason: "the budget does not hold what the change withdraws", before: map[string]string{SelectorAnnotation: europe},
			after: map[string]string{SelectorAnnotation: usa}, works: []string{"eu1", "eu2"}, percent: new(0),
			want: Change{Withdrawn: []string{"eu1", "eu2"}},
		},
		{
			reason: "the budget does not hold what the change of a Placement withdraws", before: map[string]string{PlacementAnnotation: "p"},
			after: map[string]string{PlacementAnnotation: "q"}, works: []string{"eu1", "eu2"}, percent: new(0),
			want: Change{Withdrawn: []string{"eu1", "eu2"}},
		},
		{
			reason: "the budget holds works of an object whose former state is not known", isNew: true,
			after: map[string]string{SelectorAnnotation: usa}, works: []string{"eu1", "eu2"}, percent: new(0),
			want: Change{Kept: []string{"eu1", "eu2"}},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub()
			h.works = withWorks(tc.works...)
			budget, _ := BudgetOf(tc.after, LimitsOf(removalbudget.Limit{Percent: tc.percent}))
			h.decisions = map[string]Decisions{"p": {Clusters: []string{"eu1", "eu2"}}, "q": {Clusters: []string{"us1"}}}
			before := h.evaluate(configMap(tc.before))
			if tc.isNew {
				before = nil
			}
			got, err := h.evaluate(configMap(tc.after)).ChangeFrom(before, budget, epoch)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%v: %s", err, diff)
			}
		})
	}
}

// docs/spec/trust.md 7.2, typing errors.
func TestUnknownValues(t *testing.T) {
	for _, tc := range []struct {
		reason, selector string
		want             []UnknownValue
	}{
		{"a value near one", `[{"key":"location","operator":"in","values":["eurpoe"]}]`, []UnknownValue{{"location", "eurpoe", "europe", 2}}},
		{"beside a requirement that clusters meet", `[{"key":"load","operator":"exists"},{"key":"location","operator":"=","values":["eurpoe"]}]`,
			[]UnknownValue{{"location", "eurpoe", "europe", 2}}},
		{"another value matches", `[{"key":"location","operator":"in","values":["eurpoe","usa"]}]`, nil},
		{"values of which each is on some cluster", `[{"key":"location","operator":"=","values":["usa"]},{"key":"load","operator":"exists"}]`, nil},
		{"near none", `[{"key":"location","operator":"in","values":["antarctica"]}]`, nil},
		{"another number", `[{"key":"version","operator":"in","values":["16"]}]`, nil},
		{"what is excluded need not exist", `[{"key":"location","operator":"notin","values":["eurpoe"]}]`, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub()
			h.inventory.SetCluster(&clusterv1.ManagedCluster{
				ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: map[string]string{"location": "eurpoe"}},
			})
			got := h.evaluate(configMap(map[string]string{SelectorAnnotation: tc.selector})).UnknownValues()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownKeys(t *testing.T) {
	for _, tc := range []struct {
		reason, selector string
		edit             func(*hub)
		want             []UnknownKey
		candidates       int
	}{
		{reason: "a key of one cluster is known", selector: `[{"key":"load","operator":"exists"}]`, candidates: 3},
		{reason: "a key of no cluster, near one", selector: mistype, want: []UnknownKey{{"locaton", "location"}}, candidates: 3},
		{
			reason:   "several, each once, with every operator",
			selector: `[{"key":"tier","operator":"!"},{"key":"enviroxment","operator":"!=","values":["prod"]},{"key":"tier","operator":"Exists"}]`,
			want:     []UnknownKey{{"enviroxment", "environment"}, {"tier", ""}}, candidates: 3,
		},
		{reason: "no requirement", selector: "[]"},
		{
			reason: "a namespace without clusters says nothing about keys", selector: mistype,
			edit: func(h *hub) { h.inventory.DeleteBinding("team-a", "members") },
		},
		{
			reason: "clusters out of scope do not count", selector: `[{"key":"other","operator":"exists"}]`, candidates: 3,
			edit: func(h *hub) {
				h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: map[string]string{"other": ""}}})
			},
			want: []UnknownKey{{"other", ""}},
		},
		{
			reason: "the labels of a cluster that cannot be read are not known", selector: mistype, candidates: 3,
			edit: func(h *hub) { h.spoil("us1", map[string]string{clusterv1beta2.ClusterSetLabel: "members"}) },
		},
		{
			reason: "the members of an invalid set are not known", selector: mistype,
			edit: (*hub).bindInvalid,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub()
			if tc.edit != nil {
				tc.edit(h)
			}
			got, candidates := h.evaluate(configMap(map[string]string{SelectorAnnotation: tc.selector})).UnknownKeys()
			if diff := cmp.Diff(tc.want, got); diff != "" || candidates != tc.candidates {
				t.Errorf("%d candidates: %s", candidates, diff)
			}
		})
	}
}

// docs/spec/trust.md 7.2, typing errors: the warnings about labels that no cluster in scope has.
func TestUnknownLabels(t *testing.T) {
	const prefix = "annotation federation.alpha.kubernetes.io/cluster-selector: "
	none := func(key, clusters, suggestion string) string {
		return fmt.Sprintf("%skey %q is a label of none of the %s in scope; %sorrect the key, or label the clusters",
			prefix, key, clusters, suggestion)
	}
	keys := func(names ...string) string {
		var requirements []string
		for _, name := range names {
			requirements = append(requirements, `{"key":"`+name+`","operator":"exists"}`)
		}
		return "[" + strings.Join(requirements, ",") + "]"
	}
	alone := func(h *hub) { h.inventory.DeleteCluster("eu2"); h.inventory.DeleteCluster("us1") }
	for _, tc := range []struct {
		reason, selector string
		edit             func(*hub)
		want             []string
	}{
		{reason: "each key is known", selector: europe},
		{reason: "a key near one", selector: mistype, want: []string{none("locaton", "3 clusters", `did you mean "location"? C`)}},
		{reason: "one cluster is in scope", selector: keys("x1"), edit: alone, want: []string{none("x1", "1 cluster", "c")}},
		{reason: "three keys are named", selector: keys("x3", "x1", "x2"),
			want: []string{none("x1", "3 clusters", "c"), none("x2", "3 clusters", "c"), none("x3", "3 clusters", "c")}},
		{reason: "further keys are counted", selector: keys("x1", "x2", "x3", "x4", "x5"), want: []string{
			none("x1", "3 clusters", "c"), none("x2", "3 clusters", "c"), none("x3", "3 clusters", "c"),
			prefix + "2 more keys are labels of none of the 3 clusters in scope",
		}},
		{reason: "a value near that of several clusters", selector: `[{"key":"location","operator":"=","values":["eurpoe"]}]`, want: []string{
			prefix + "no cluster in scope has location=eurpoe; did you mean europe (2 clusters)? Correct the value, or label the clusters",
		}},
		{reason: "a value near that of one cluster", selector: `[{"key":"location","operator":"=","values":["us"]}]`, want: []string{
			prefix + "no cluster in scope has location=us; did you mean usa (1 cluster)? Correct the value, or label the clusters",
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub()
			if tc.edit != nil {
				tc.edit(h)
			}
			got := h.evaluate(configMap(map[string]string{SelectorAnnotation: tc.selector})).UnknownLabels()
			if strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestSimilar(t *testing.T) {
	longest := strings.Repeat("x", longestCompared-1)
	names := []string{"environment", "example.com/region", "gpu", "location", "region", "zone", longest + "y", longest + "yz"}
	for name, want := range map[string]string{
		"locaton": "location", "loaction": "location", "Location": "location", "enviroxment": "environment", "regoin": "region",
		"example.com/regoin": "example.com/region", "gpus": "gpu", "zones": "zone", "cpu": "gpu", "provider": "", "": "",
		"locatn": "", "xxzone": "", "regoix": "", longest + "a": longest + "y", longest + "yy": "",
	} {
		if got := Similar(name, names); got != want {
			t.Errorf("%q is similar to %q, want %q", name, got, want)
		}
	}
}
