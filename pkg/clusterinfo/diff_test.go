// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

func TestChangedProperties(t *testing.T) {
	base := func() *clusterv1.ManagedCluster {
		return &clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: "c1", UID: "u", Labels: map[string]string{"region": "eu"}},
			Status: clusterv1.ManagedClusterStatus{
				Allocatable:   clusterv1.ResourceList{"memory": resource.MustParse("1024")},
				Capacity:      clusterv1.ResourceList{"memory": resource.MustParse("1024")},
				ClusterClaims: []clusterv1.ManagedClusterClaim{{Name: "id", Value: "1"}},
			},
		}
	}

	for _, tc := range []struct {
		reason string
		change func(*clusterv1.ManagedCluster)
		want   []Property
	}{
		{"nothing", func(*clusterv1.ManagedCluster) {}, nil},
		{"the bookkeeping of the API server says nothing about the cluster", func(c *clusterv1.ManagedCluster) {
			c.ResourceVersion, c.ManagedFields = "7", []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		}, nil},
		{"empty is the same as absent", func(c *clusterv1.ManagedCluster) {
			c.Annotations, c.Spec.Taints = map[string]string{}, []clusterv1.Taint{}
		}, nil},
		{
			"a label set to nothing is not a label removed",
			func(c *clusterv1.ManagedCluster) { c.Labels["region"] = "" }, []Property{{Label, "region"}},
		},
		{"labels by name", func(c *clusterv1.ManagedCluster) { c.Labels = map[string]string{"zone": "a"} },
			[]Property{{Label, "region"}, {Label, "zone"}}},
		{"an annotation is something CEL can read", func(c *clusterv1.ManagedCluster) { c.Annotations = map[string]string{"a": "b"} },
			[]Property{{Field, "metadata.annotations"}}},
		{"the way a quantity is written is something CEL can read", func(c *clusterv1.ManagedCluster) {
			c.Status.Allocatable["memory"] = resource.MustParse("1Ki")
		}, []Property{{Field, "status.allocatable"}}},
		{"capacity alone is not what prioritizers read", func(c *clusterv1.ManagedCluster) {
			c.Status.Capacity["memory"] = resource.MustParse("2Ki")
		}, []Property{{Field, "status.capacity"}}},
		{"but reported or not is", func(c *clusterv1.ManagedCluster) { c.Status.Capacity = nil },
			[]Property{{Resource, "memory"}, {Field, "status.capacity"}}},
		{"CEL sees whether there are labels at all", func(c *clusterv1.ManagedCluster) { c.Labels = nil },
			[]Property{{Label, "region"}, {Field, "metadata.labels"}}},
		{"CEL sees claims as a list, duplicates and all", func(c *clusterv1.ManagedCluster) {
			c.Status.ClusterClaims = slices.Insert(c.Status.ClusterClaims, 0, clusterv1.ManagedClusterClaim{Name: "id", Value: "0"})
		}, []Property{{Field, "status.clusterClaims"}}},
		{"CEL tells a list of no conditions from none", func(c *clusterv1.ManagedCluster) { c.Status.Conditions = []metav1.Condition{} },
			[]Property{{Field, "status.conditions"}}},
		{"a heartbeat", func(c *clusterv1.ManagedCluster) {
			c.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionJoined, Status: metav1.ConditionTrue}}
		}, []Property{{Field, "status.conditions"}}},
		{"a new generation", func(c *clusterv1.ManagedCluster) { c.Generation++ }, []Property{{Field, "metadata.generation"}}},
		{"kinds come in their order", func(c *clusterv1.ManagedCluster) {
			c.Spec.Taints = []clusterv1.Taint{{Key: "gpu"}}
			c.Labels["a"] = "b"
			c.Status.ClusterClaims = append(c.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: "gpus", Value: "1"})
			c.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
		}, []Property{
			{Label, "a"}, {Claim, "gpus"}, {Taint, "gpu"}, {Kind: Availability},
			{Field, "spec.taints"}, {Field, "status.clusterClaims"}, {Field, "status.conditions"},
		}},
		{"who starts to terminate changes everything", func(c *clusterv1.ManagedCluster) {
			c.DeletionTimestamp, c.Labels = &metav1.Time{Time: noon}, nil
		}, []Property{{Name, "c1"}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			changed := base()
			tc.change(changed)
			if diff := cmp.Diff(tc.want, ChangedProperties(New(base(), nil), New(base(), nil).Update(changed))); diff != "" {
				t.Errorf("there (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, ChangedProperties(New(changed, nil), New(base(), nil))); diff != "" {
				t.Errorf("and back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangedPropertiesOfExistence(t *testing.T) {
	f := New(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, nil)
	want := []Property{{Name, "c1"}}
	if diff := cmp.Diff(want, ChangedProperties(nil, f)); diff != "" {
		t.Errorf("a cluster appears (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, ChangedProperties(f, nil)); diff != "" {
		t.Errorf("a cluster goes (-want +got):\n%s", diff)
	}

	if got := ChangedProperties(nil, nil); got != nil {
		t.Errorf("nothing and nothing differ by %v", got)
	}
}

// TestChangedPropertiesOfScores checks that scores and their expiry are properties (docs/spec/differences.md C3).
func TestChangedPropertiesOfScores(t *testing.T) {
	f := New(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", ResourceVersion: "1"}}, map[string]ScoreSet{
		"demo": {Names: []string{"cpu"}, Values: map[string]int32{"cpu": 1}, ValidUntil: noon},
	})
	for _, tc := range []struct {
		reason string
		scores map[string]ScoreSet
		want   []Property
	}{
		{"equal", map[string]ScoreSet{"demo": {Names: []string{"cpu"}, Values: map[string]int32{"cpu": 1},
			ValidUntil: noon.In(time.FixedZone("", 3600))}}, nil},
		{"value", map[string]ScoreSet{"demo": {Names: []string{"cpu"}, Values: map[string]int32{"cpu": 2}, ValidUntil: noon}},
			[]Property{{Score, "demo"}}},
		{"expiry", map[string]ScoreSet{"demo": {Names: []string{"cpu"}, Values: map[string]int32{"cpu": 1}}}, []Property{{Score, "demo"}}},
		{"another object", map[string]ScoreSet{"other": {}}, []Property{{Score, "demo"}, {Score, "other"}}},
		{"none", nil, []Property{{Score, "demo"}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ChangedProperties(f, f.WithScores(tc.scores))); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func word() *rapid.Generator[string] { return rapid.SampledFrom([]string{"", "a", "b"}) }

func words(t *rapid.T, label string) map[string]string {
	return rapid.MapOfN(rapid.SampledFrom([]string{"x", "y"}), word(), 0, 2).Draw(t, label)
}

func amounts(t *rapid.T, label string) clusterv1.ResourceList {
	amount := rapid.Custom(func(t *rapid.T) resource.Quantity {
		return resource.MustParse(rapid.SampledFrom([]string{"1", "1024", "1Ki"}).Draw(t, "amount"))
	})
	return rapid.MapOfN(rapid.SampledFrom([]clusterv1.ResourceName{"cpu", "memory"}), amount, 0, 2).Draw(t, label)
}

// clusterFacts draws a cluster with few possible values, so that two of them are often equal or differ little.
func clusterFacts(t *rapid.T, label string) *ClusterInfo {
	c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "c1", Labels: words(t, label+" labels"), Annotations: words(t, label+" annotations"),
		Generation: rapid.Int64Range(0, 1).Draw(t, label+" generation"),
	}}
	for name, value := range words(t, label+" claims") {
		c.Status.ClusterClaims = append(c.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: name, Value: value})
	}
	slices.SortFunc(c.Status.ClusterClaims, func(a, b clusterv1.ManagedClusterClaim) int { return strings.Compare(a.Name, b.Name) })

	c.Status.Allocatable, c.Status.Capacity = amounts(t, label+" allocatable"), amounts(t, label+" capacity")
	c.Spec.Taints = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) clusterv1.Taint {
		return clusterv1.Taint{Key: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "key"), Value: word().Draw(t, "value")}
	}), 0, 2).Draw(t, label+" taints")
	if rapid.Bool().Draw(t, label+" available") {
		c.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	}
	if rapid.IntRange(0, 9).Draw(t, label+" terminating") == 0 {
		c.DeletionTimestamp = &metav1.Time{Time: noon}
	}

	scores := rapid.MapOfN(rapid.SampledFrom([]string{"x", "y"}), rapid.Custom(func(t *rapid.T) ScoreSet {
		return ScoreSet{
			Values:     rapid.MapOfN(word(), rapid.Int32Range(0, 1), 0, 2).Draw(t, "values"),
			ValidUntil: noon.Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "until"))),
		}
	}), 0, 2).Draw(t, label+" scores")
	return New(c, scores)
}

// withAspect returns before with one aspect of other.
func withAspect(t *rapid.T, before, other *ClusterInfo) *ClusterInfo {
	changed, from, scores := before.source.cluster.DeepCopy(), other.source.cluster, before.Scores
	switch rapid.SampledFrom([]string{"nothing", "labels", "annotations", "claims", "taints", "resources", "scores"}).Draw(t, "aspect") {
	case "labels":
		changed.Labels = from.Labels
	case "annotations":
		changed.Annotations = from.Annotations
	case "claims":
		changed.Status.ClusterClaims = from.Status.ClusterClaims
	case "taints":
		changed.Spec.Taints = from.Spec.Taints
	case "resources":
		changed.Status.Allocatable, changed.Status.Capacity = from.Status.Allocatable, from.Status.Capacity
	case "scores":
		return before.WithScores(other.Scores)
	}

	return New(changed, scores)
}

// text returns everything that a reader can see as one string.
func text(t *rapid.T, f *ClusterInfo) string {
	object, err := f.Object()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal([]any{object, f.Scores})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// readings returns the values of all properties that have a name.
func readings(t *rapid.T, f *ClusterInfo) map[Property]string {
	object, err := f.Object()
	if err != nil {
		t.Fatal(err)
	}
	all := map[Property]string{{Kind: Availability}: toText(f.Available)}
	for name, value := range f.Labels {
		all[Property{Label, name}] = toText(value)
	}

	for name, value := range f.Claims {
		all[Property{Claim, name}] = toText(value)
	}
	for _, taint := range f.Taints {
		all[Property{Taint, taint.Key}] += toText(taint)
	}
	for name, value := range f.Resources {
		all[Property{Resource, name}] = toText(value)
	}

	for name, value := range f.Scores {
		all[Property{Score, name}] = toText(value)
	}
	for _, path := range fields {
		section, name, _ := strings.Cut(path.path, ".")
		in, _ := object[section].(map[string]any)
		value, there := in[name]
		if path.path == fieldLabels {
			value = there
		}
		all[Property{Field, path.path}] = toText(value)
	}

	return all
}

func toText(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// TestChangedPropertiesAreComplete checks that ChangedProperties is empty if and only if no reader sees a difference, and returns every
// property whose value differs.
func TestChangedPropertiesAreComplete(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		before := clusterFacts(t, "before")

		after := clusterFacts(t, "after")
		if rapid.Bool().Draw(t, "one aspect") {
			after = withAspect(t, before, after)
		}
		changes := ChangedProperties(before, after)
		if same := text(t, before) == text(t, after); same != (len(changes) == 0) {
			t.Fatalf("equal = %v, but the difference is %v", same, changes)
		}

		if before.Terminating != after.Terminating {
			return // The single property Name covers all others.
		}
		is, was := readings(t, after), readings(t, before)
		both := maps.Clone(is)
		maps.Copy(both, was)

		for key := range both {
			if is[key] != was[key] && !Affects([]Property{key}, changes) {
				t.Fatalf("%v is %s and was %s, but the difference is %v", key, is[key], was[key], changes)
			}
			if is[key] == was[key] && Affects([]Property{key}, changes) {
				t.Fatalf("%v did not change, but the difference is %v", key, changes)
			}
		}

		sorted := slices.IsSortedFunc(changes, func(a, b Property) int {
			if a.Kind != b.Kind {
				return int(a.Kind) - int(b.Kind)
			}
			return strings.Compare(a.Name, b.Name)
		})
		if !sorted {
			t.Fatalf("not sorted: %v", changes)
		}
	})
}
