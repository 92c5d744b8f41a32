// SPDX-License-Identifier: Apache-2.0

package federation

import (
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
		before, after map[string]string
		works         []string
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
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub()
			h.works = withWorks(tc.works...)
			budget, _ := BudgetOf(tc.after, LimitsOf(removalbudget.Limit{}))
			got, err := h.evaluate(configMap(tc.after)).ChangeFrom(h.evaluate(configMap(tc.before)), budget, epoch)
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
			reason: "the members of an invalid set are not known", selector: mistype,
			edit: func(h *hub) {
				h.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{
					ObjectMeta: metav1.ObjectMeta{Name: "broken"},
					Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{
						SelectorType:  clusterv1beta2.LabelSelector,
						LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}},
					}},
				})
				h.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{
					ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "broken"},
					Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "broken"},
				})
			},
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

func TestSimilar(t *testing.T) {
	names := []string{"environment", "example.com/region", "gpu", "location", "region", "zone"}
	for name, want := range map[string]string{
		"locaton": "location", "loaction": "location", "Location": "location", "enviroxment": "environment", "regoin": "region",
		"example.com/regoin": "example.com/region", "gpus": "gpu", "zones": "zone", "cpu": "gpu", "provider": "", "": "",
	} {
		if got := Similar(name, names); got != want {
			t.Errorf("%q is similar to %q, want %q", name, got, want)
		}
	}
}
