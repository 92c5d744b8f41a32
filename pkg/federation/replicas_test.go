// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

func available(names ...string) []ReplicaCluster {
	clusters := make([]ReplicaCluster, 0, len(names))
	for _, name := range names {
		clusters = append(clusters, ReplicaCluster{Name: name, Available: true})
	}
	return clusters
}

func TestPlanReplicas(t *testing.T) {
	away := []ReplicaCluster{{Name: "eu1", Available: true}, {Name: "eu2", Planned: 3}}
	running := []ReplicaCluster{{Name: "eu1", Available: true, Planned: 9, Ready: 8}, {Name: "eu2", Available: true}}
	for _, c := range []struct {
		name, preferences string
		clusters          []ReplicaCluster
		want              map[string]int32
	}{
		{"federated-selector F27, 3.1.6: weights", `{"clusters":{"eu1":{"weight":2},"eu2":{"weight":1}}}`, available("eu1", "eu2"),
			map[string]int32{"eu1": 6, "eu2": 3}},
		{"federated-selector F28: a cluster that is not selected", `{"clusters":{"eu1":{"weight":1},"us1":{"weight":9}}}`, available("eu1"),
			map[string]int32{"eu1": 9}},
		{"federated-selector F29: a maximum", `{"clusters":{"eu1":{"maxReplicas":2,"weight":1},"*":{"weight":1}}}`, available("eu1", "eu2"),
			map[string]int32{"eu1": 2, "eu2": 7}},
		{"federated-selector F30: a cluster without preference", `{"clusters":{"eu1":{"weight":1}}}`, available("eu1", "eu2"),
			map[string]int32{"eu1": 9, "eu2": 0}},
		{"federated-selector 3.1.6: a cluster that is away keeps what it has", `{"rebalance":true}`, away, map[string]int32{"eu1": 6, "eu2": 3}},
		{"federated-selector 3.1.6: running replicas stay", `{}`, running, map[string]int32{"eu1": 8, "eu2": 1}},
		{"federated-selector 3.1.6: running replicas move", `{"rebalance":true,"clusters":{"eu1":{"weight":2},"eu2":{"weight":1}}}`, running,
			map[string]int32{"eu1": 6, "eu2": 3}},
		{"federated-selector 3.1.6: minimums come first", `{"clusters":{"eu1":{"weight":1},"eu2":{"minReplicas":7}}}`, available("eu1", "eu2"),
			map[string]int32{"eu1": 2, "eu2": 7}},
		{"federated-selector 3.1.6: of equal quotients beyond the minimums, that of the higher weight is first",
			`{"clusters":{"eu1":{"minReplicas":7,"weight":3},"eu2":{"weight":1}}}`, available("eu1", "eu2"), map[string]int32{"eu1": 9, "eu2": 0}},
		{"federated-selector 3.1.6: a fixed number", `{"clusters":{"eu1":{"minReplicas":2,"maxReplicas":2,"weight":9},"eu2":{"weight":1}}}`,
			available("eu1", "eu2"), map[string]int32{"eu1": 2, "eu2": 7}},
		{"federated-selector 3.1.6: maximums bound the sum", `{"clusters":{"*":{"maxReplicas":2,"weight":1}}}`, available("eu1", "eu2"),
			map[string]int32{"eu1": 2, "eu2": 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			preferences, err := ParsePreferences(c.preferences)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, PlanReplicas(key, 9, preferences, c.clusters)); diff != "" {
				t.Error(diff)
			}
		})
	}

	t.Run("federated-selector F26: no preferences", func(t *testing.T) {
		plan := PlanReplicas(key, 9, DefaultPreferences(), available("eu1", "eu2"))
		if diff := cmp.Diff([]int32{4, 5}, slices.Sorted(maps.Values(plan))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("federated-selector 3.1.6: single replicas do not all get to one cluster", func(t *testing.T) {
		used := map[string]bool{}
		for name := range strings.SplitSeq("abcdefghijklmnop", "") {
			object := key
			object.Name = name
			for cluster, replicas := range PlanReplicas(object, 1, DefaultPreferences(), available("eu1", "eu2", "us1")) {
				used[cluster] = used[cluster] || replicas == 1
			}
		}

		if diff := cmp.Diff(map[string]bool{"eu1": true, "eu2": true, "us1": true}, used); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPreferencesErrors(t *testing.T) {
	for value, want := range map[string]string{
		``:                                      "unexpected end of JSON input",
		`null`:                                  "not null",
		`{"cluster":{}}`:                        `unknown field "cluster"`,
		`{"rebalance":1}`:                       "cannot unmarshal number",
		`{"clusters":{}} x`:                     "after top-level value",
		`{"clusters":{"a":{"x"}}}`:              "after object key",
		`{"clusters":{"a":{"minReplicas":-1}}}`: "clusters[a].minReplicas: Invalid value: -1: must be 0 or more",
		`{"clusters":{"a":{"maxReplicas":-1}}}`: "clusters[a].maxReplicas: Invalid value: -1: must be 0 or more",
		`{"clusters":{"*":{"weight":-1}}}`:      "clusters[*].weight: Invalid value: -1: must be 0 or more",
		`{"clusters":{"a":{"weight":3000000000}}}`:             "cannot unmarshal number 3000000000",
		`{"clusters":{"a":{"minReplicas":2,"maxReplicas":1}}}`: "clusters[a].maxReplicas: Invalid value: 1: must be minReplicas (2) or more",
	} {
		_, err := PreferencesOf("Deployment", map[string]string{DeploymentPreferencesAnnotation: value})
		if err == nil || !strings.HasPrefix(err.Error(), "annotation "+DeploymentPreferencesAnnotation+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", value, err, want)
		}
	}

	got, err := PreferencesOf("ReplicaSet", map[string]string{DeploymentPreferencesAnnotation: "x"})
	if diff := cmp.Diff(DefaultPreferences(), got); err != nil || diff != "" {
		t.Errorf("the annotation of another kind: %v, %s", err, diff)
	}
	got, err = PreferencesOf("ReplicaSet", map[string]string{ReplicaSetPreferencesAnnotation: `{"rebalance":true}`})
	if err != nil || !got.Rebalance {
		t.Errorf("the annotation of a ReplicaSet: %v, %+v", err, got)
	}
}

func drawPreference(t *rapid.T) Preference {
	p := Preference{MinReplicas: rapid.Int32Range(0, 4).Draw(t, "min"), Weight: rapid.Int32Range(0, 3).Draw(t, "weight")}
	if rapid.Bool().Draw(t, "limited") {
		most := p.MinReplicas + rapid.Int32Range(0, 4).Draw(t, "max")
		p.MaxReplicas = &most
	}
	return p
}

// capped returns a number within the maximum of a Preference.
func (p Preference) capped(replicas int32) int32 {
	if p.MaxReplicas != nil {
		return min(replicas, *p.MaxReplicas)
	}
	return replicas
}

// TestPlanReplicasProperties checks sum, maximums, minimums, stickiness, and that the order of clusters does not matter
// (docs/spec/federated-selector.md 3.1.6).
func TestPlanReplicasProperties(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		total := rapid.Int32Range(-1, 30).Draw(t, "total")
		preferences := Preferences{
			Rebalance: rapid.Bool().Draw(t, "rebalance"),
			Clusters:  rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "*"}), rapid.Custom(drawPreference), 0, 4).Draw(t, "clusters"),
		}

		var clusters []ReplicaCluster
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), rapid.ID[string]).Draw(t, "names") {
			clusters = append(clusters, ReplicaCluster{
				Name: name, Available: rapid.Bool().Draw(t, "available"),
				Planned: rapid.Int32Range(0, 6).Draw(t, "planned"), Ready: rapid.Int32Range(0, 6).Draw(t, "ready"),
			})
		}

		plan := PlanReplicas(key, total, preferences, clusters)
		if diff := cmp.Diff(plan, PlanReplicas(key, total, preferences, rapid.Permutation(clusters).Draw(t, "order"))); diff != "" {
			t.Fatalf("the order matters: %s", diff)
		}
		var sum, away, least, kept int32
		open := false

		for _, c := range clusters {
			p, found := preferences.of(c.Name)
			planned := plan[c.Name]
			sum += planned
			switch {
			case planned < 0 || !found && planned != 0 || p.capped(planned) != planned:
				t.Fatalf("%v has %d with %+v", c, planned, p)
			case !found:
			case !c.Available:
				away += p.capped(c.Planned)
				if planned > c.Planned {
					t.Fatalf("%v is away and gets %d", c, planned)
				}
			default:
				open = open || p.Weight > 0 && p.MaxReplicas == nil
				least += p.MinReplicas
				kept += max(p.MinReplicas, p.capped(c.Ready))
			}
		}

		if sum > max(total, 0) || open && sum != max(total, 0) || len(plan) != len(clusters) {
			t.Fatalf("the sum of %v is %d of %d", plan, sum, total)
		}
		for _, c := range clusters {
			p, found := preferences.of(c.Name)
			if limit := preferences.limitOf(c, plan[c.Name]); sum < total && limit == "" {
				t.Fatalf("%v has %d without a limit, and %d of %d replicas have no cluster", c, plan[c.Name], total-sum, total)
			}
			switch {
			case !found:
			case !c.Available && away <= total && plan[c.Name] != p.capped(c.Planned):
				t.Fatalf("%v is away and keeps %d", c, plan[c.Name])
			case c.Available && away+least <= total && plan[c.Name] < p.MinReplicas:
				t.Fatalf("%v has %d, less than its minimum", c, plan[c.Name])
			case c.Available && !preferences.Rebalance && away+kept <= total && plan[c.Name] < p.capped(c.Ready):
				t.Fatalf("%v loses running replicas: %d", c, plan[c.Name])
			}
		}
	})
}
