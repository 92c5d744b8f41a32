// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/history"
)

func cluster(change func(*clusterv1.ManagedCluster)) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "c7", UID: "u7", ResourceVersion: "1", Labels: map[string]string{"region": "eu"},
	}}
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "id", Value: "x"}}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	cluster.Status.Allocatable = clusterv1.ResourceList{"cpu": resource.MustParse("4")}
	if change != nil {
		cluster.ResourceVersion = "2"
		change(cluster)
	}
	return cluster
}

func taint(value string) []clusterv1.Taint {
	return []clusterv1.Taint{{Key: "maintenance", Value: value, Effect: clusterv1.TaintEffectNoSelect}}
}

func placement(change func(*clusterv1beta1.Placement)) *clusterv1beta1.Placement {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p", UID: "up", Generation: 1, ResourceVersion: "1"}}
	if change != nil {
		placement.ResourceVersion, placement.Generation = "2", 2
		change(placement)
	}
	return placement
}

// docs/spec/history.md HI5: the changes of everything that decisions depend on are recorded, and no others.
func TestHI5ChangesOfWhatDecisionsDependOn(t *testing.T) {
	two, set := int32(2), &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "s", ResourceVersion: "1", Generation: 1}}
	other := set.DeepCopy()
	other.ResourceVersion, other.Generation, other.Spec.ClusterSelector.SelectorType = "2", 2, clusterv1beta2.LabelSelector
	score := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: "c7", Name: "r", ResourceVersion: "1"}}
	better := score.DeepCopy()
	better.ResourceVersion, better.Status.Scores = "2", []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "cpu", Value: 7}}
	alpha := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p", ResourceVersion: "1", Generation: 1}}
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "s"}}
	edited := alpha.DeepCopy()
	edited.ResourceVersion, edited.Generation, edited.Spec.NumberOfClusters = "2", 2, &two
	for _, tc := range []struct {
		reason        string
		before, after metav1.Object
		want          []string
	}{
		{reason: "the same version", before: cluster(nil), after: cluster(nil)},
		{reason: "a heartbeat", before: cluster(nil), after: cluster(func(c *clusterv1.ManagedCluster) {
			c.Status.Conditions[0].LastTransitionTime = metav1.Now()
			c.Status.Allocatable = clusterv1.ResourceList{"cpu": resource.MustParse("4000m")}
		})},
		{reason: "a label", before: cluster(nil), after: cluster(func(c *clusterv1.ManagedCluster) {
			c.Labels = map[string]string{"region": "us", "tier": "gold"}
		}), want: []string{
			"ManagedCluster c7 label region changed from eu to us", "ManagedCluster c7 label tier added",
		}},
		{reason: "a taint", before: cluster(nil), after: cluster(func(c *clusterv1.ManagedCluster) { c.Spec.Taints = taint("") }), want: []string{
			"ManagedCluster c7 taint maintenance:NoSelect added",
		}},
		{
			reason: "no taint", before: cluster(func(c *clusterv1.ManagedCluster) { c.Spec.Taints, c.ResourceVersion = taint(""), "0" }),
			after: cluster(nil), want: []string{"ManagedCluster c7 taint maintenance:NoSelect removed"},
		},
		{
			reason: "the value of a taint",
			before: cluster(func(c *clusterv1.ManagedCluster) { c.Spec.Taints, c.ResourceVersion = taint("x"), "0" }),
			after:  cluster(func(c *clusterv1.ManagedCluster) { c.Spec.Taints = taint("y") }),
			want:   []string{"ManagedCluster c7 taint maintenance:NoSelect changed from x to y"},
		},
		{reason: "what the agent reports", before: cluster(nil), after: cluster(func(c *clusterv1.ManagedCluster) {
			c.Status.ClusterClaims = nil
			c.Status.Conditions[0].Status = metav1.ConditionUnknown
			c.Status.Allocatable["cpu"] = resource.MustParse("8")
			c.Status.Version.Kubernetes = "v1.35.0"
			c.Spec.HubAcceptsClient = true
		}), want: []string{
			"ManagedCluster c7 claim id removed", "ManagedCluster c7 condition ManagedClusterConditionAvailable changed from True to Unknown",
			"ManagedCluster c7 spec.hubAcceptsClient changed from false to true", "ManagedCluster c7 status.version added",
			"ManagedCluster c7 allocatable of cpu changed from 4 to 8",
		}},
		{reason: "the beginning of a deletion", before: cluster(nil), after: cluster(func(c *clusterv1.ManagedCluster) {
			c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}), want: []string{"ManagedCluster c7 deletion added"}},
		{reason: "a new cluster", after: cluster(nil), want: []string{"ManagedCluster c7 created"}},
		{reason: "a deleted binding", before: binding, want: []string{"ManagedClusterSetBinding a/s deleted"}},
		{reason: "a set", before: set, after: other, want: []string{"ManagedClusterSet s spec.clusterSelector.selectorType added"}},
		{reason: "a score", before: score, after: better, want: []string{"AddOnPlacementScore c7/r score cpu added"}},
		{reason: "a spec", before: placement(nil), after: placement(func(p *clusterv1beta1.Placement) {
			p.Spec.NumberOfClusters, p.Spec.ClusterSets = &two, []string{"s"}
		}), want: []string{"Placement a/p spec.clusterSets added", "Placement a/p spec.numberOfClusters added"}},
		{reason: "a spec of the other API", before: alpha, after: edited, want: []string{"Placement a/p spec.numberOfClusters added"}},
		{reason: "an annotation", before: placement(nil), after: placement(func(p *clusterv1beta1.Placement) {
			p.Annotations = map[string]string{"budget": "1", lastApplied: "{}"}
		}), want: []string{"Placement a/p annotation budget added"}},
		{reason: "a status", before: placement(nil), after: placement(func(p *clusterv1beta1.Placement) {
			p.Generation, p.Status.NumberOfSelectedClusters = 1, 7
		})},
	} {
		var got []string
		for _, change := range Between(tc.before, tc.after) {
			got = append(got, change.Sentence())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// docs/spec/history.md HI2: an update is recorded with a bounded number of changes, with bounded values.
func TestHI2ChangesAreBounded(t *testing.T) {
	after := cluster(func(c *clusterv1.ManagedCluster) {
		c.Labels = map[string]string{}
		for i := range 100 {
			c.Labels[strings.Repeat("x", i+1)] = strings.Repeat("ä", 500)
		}
	})
	got := Between(cluster(nil), after)
	if len(got) != mostFields || len(got[5].New) > longestValue+3 || !strings.HasSuffix(got[5].New, "ä...") {
		t.Errorf("%d changes, one to %q", len(got), got[5].New)
	}
}

func entry(manager string, second int64, subresource, fields string) metav1.ManagedFieldsEntry {
	at := metav1.Unix(second, 0)
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &at, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// docs/spec/history.md HI6: the manager is the newest owner of the field. Of a field without an owner it is the only manager that has written since,
// and it is empty if there are several.
func TestHI6ManagerOfAChange(t *testing.T) {
	added := func(c *clusterv1.ManagedCluster) { c.Spec.Taints = taint("") }
	owner, older := entry("kubectl-edit", 20, "", `{"f:spec":{"f:taints":{}}}`), entry("ci", 10, "", `{"f:spec":{"f:taints":{}}}`)
	agent := entry("agent", 30, "status", `{"f:status":{"f:conditions":{}}}`)
	for _, tc := range []struct {
		reason        string
		before, after metav1.Object
		entries       []metav1.ManagedFieldsEntry
		last          int64
		want          string
	}{
		{"the newest owner", cluster(nil), cluster(added), []metav1.ManagedFieldsEntry{agent, older, owner}, 15, "kubectl-edit"},
		{"nobody owns it", cluster(nil), cluster(added), []metav1.ManagedFieldsEntry{agent}, 0, ""},
		{"a removed label, and one who wrote", cluster(nil), cluster(func(c *clusterv1.ManagedCluster) { c.Labels = nil }),
			[]metav1.ManagedFieldsEntry{older, agent}, 20, "agent"},
		{"a removed label, and two who wrote", cluster(nil), cluster(func(c *clusterv1.ManagedCluster) { c.Labels = nil }),
			[]metav1.ManagedFieldsEntry{owner, agent}, 15, ""},
		{"a removed label, and nobody who wrote", cluster(nil), cluster(func(c *clusterv1.ManagedCluster) { c.Labels = nil }),
			[]metav1.ManagedFieldsEntry{owner, agent}, 30, ""},
		{"a removed label, and nothing known of before", cluster(nil), cluster(func(c *clusterv1.ManagedCluster) { c.Labels = nil }),
			[]metav1.ManagedFieldsEntry{agent}, 0, ""},
		{"a taint of a list that is left", cluster(func(c *clusterv1.ManagedCluster) { c.Spec.Taints, c.ResourceVersion = taint(""), "0" }),
			cluster(nil), []metav1.ManagedFieldsEntry{owner, agent}, 15, "kubectl-edit"},
		{"a label by its key", cluster(nil), cluster(func(c *clusterv1.ManagedCluster) { c.Labels = map[string]string{"region": "us"} }),
			[]metav1.ManagedFieldsEntry{
				entry("other", 30, "", `{"f:metadata":{"f:labels":{".":{},"f:tier":{}}}}`),
				entry("labeler", 20, "", `{"f:metadata":{"f:labels":{"f:region":{}}}}`),
			}, 15, "labeler"},
		{"a creation", nil, cluster(nil), []metav1.ManagedFieldsEntry{older, agent}, 0, "ci"},
		{"a deletion", cluster(nil), nil, []metav1.ManagedFieldsEntry{older, agent}, 0, ""},
		{"fields that are no JSON", cluster(nil), cluster(added), []metav1.ManagedFieldsEntry{entry("x", 10, "", `nonsense`)}, 0, ""},
	} {
		changes := Between(tc.before, tc.after)
		last := time.Time{}
		if tc.last > 0 {
			last = time.Unix(tc.last, 0)
		}
		SetManagers(changes, tc.entries, last)
		if len(changes) != 1 || changes[0].Manager != tc.want {
			t.Errorf("%s: %+v, want one by %q", tc.reason, changes, tc.want)
		}
	}
	if latest := LatestTime([]metav1.ManagedFieldsEntry{older, agent, owner}); latest.Unix() != 30 {
		t.Errorf("the latest time is %s", latest)
	}
}

// docs/spec/history.md HI5: a decision is explained by the changes of the objects and of the properties that it depends on.
func TestHI5ADecisionDependsOnSomeChanges(t *testing.T) {
	log := NewLog(1 << 16)
	add := func(second int64, before, after metav1.Object) {
		changes := Between(before, after)
		for i := range changes {
			changes[i].Time = time.Unix(second, 0)
		}
		log.Add(changes)
	}
	label := func(value string) *clusterv1.ManagedCluster {
		return cluster(func(c *clusterv1.ManagedCluster) { c.Labels = map[string]string{"region": value} })
	}
	add(1, cluster(nil), label("us"))
	add(2, cluster(nil), label("ap"))
	add(3, cluster(nil), cluster(func(c *clusterv1.ManagedCluster) { c.Spec.Taints = taint("") }))
	add(4, nil, placement(nil))
	add(5, nil, &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "s"}})
	region := []clusterinfo.Property{{Kind: clusterinfo.Label, Name: "region"}}
	all := func(history.Object) bool { return true }
	for _, tc := range []struct {
		reason   string
		question Question
		want     []int64
	}{
		{"the latest change of each field", Question{Has: all}, []int64{2, 3, 4}},
		{"what is read", Question{Has: all, Reads: region}, []int64{2, 4}},
		{"an object", Question{Has: func(o history.Object) bool { return o.Kind == KindPlacement }}, []int64{4}},
		{"a time", Question{Has: all, Since: time.Unix(3, 0)}, []int64{3, 4}},
		{"an end", Question{Has: all, Until: time.Unix(1, 0)}, []int64{1}},
		{"a limit", Question{Has: all, Limit: 1}, []int64{4}},
	} {
		tc.question.Namespace, tc.question.Clusters = "a", []string{"c7"}
		if tc.question.Until.IsZero() {
			tc.question.Until = time.Unix(100, 0)
		}
		if tc.question.Limit == 0 {
			tc.question.Limit = 10
		}
		var got []int64
		for _, cause := range log.Find(tc.question) {
			got = append(got, cause.Time.Unix())
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: changes at %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// docs/spec/history.md HI4: what a heartbeat changes costs no memory.
func BenchmarkHeartbeat(b *testing.B) {
	before, after := cluster(nil), cluster(func(c *clusterv1.ManagedCluster) { c.Status.Conditions[0].LastTransitionTime = metav1.Now() })
	b.ReportAllocs()
	for b.Loop() {
		if Between(before, after) != nil {
			b.Fatal("a heartbeat changes nothing")
		}
	}
}

func TestHI4AHeartbeatAllocatesNothing(t *testing.T) {
	before, after := cluster(nil), cluster(func(c *clusterv1.ManagedCluster) { c.Status.Conditions[0].LastTransitionTime = metav1.Now() })
	if allocated := testing.AllocsPerRun(100, func() { Between(before, after) }); allocated > 0 {
		t.Errorf("a heartbeat allocates %.0f times", allocated)
	}
}

// docs/spec/history.md HI3: an agent that changes its cluster all the time pushes out no change of another cluster.
func TestHI3AnAgentPushesOutItsOwnChanges(t *testing.T) {
	log := NewLog(1 << 14)
	quiet := Between(nil, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "quiet"}})
	log.Add(quiet)
	for i := range 1000 {
		log.Add(Between(cluster(nil), cluster(func(c *clusterv1.ManagedCluster) { c.Status.Version.Kubernetes = strings.Repeat("v", i%50+1) })))
	}
	found := log.Find(Question{
		Namespace: "a", Clusters: []string{"quiet"}, Has: func(history.Object) bool { return true }, Until: time.Unix(100, 0), Limit: 10,
	})
	if len(found) != 1 || found[0].Name != "quiet" {
		t.Errorf("the changes of the quiet cluster are %+v", found)
	}
}
