// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestNew(t *testing.T) {
	deleted := metav1.NewTime(noon)
	for _, tc := range []struct {
		reason  string
		cluster clusterv1.ManagedCluster
		want    ClusterInfo
	}{
		{
			reason:  "1.4c: a cluster that reports nothing has no facts but its name",
			cluster: clusterv1.ManagedCluster{},
			want:    ClusterInfo{Claims: map[string]string{}, Resources: map[string]float64{}},
		},
		{
			reason: "1.4c: of two claims of one name the last counts",
			cluster: clusterv1.ManagedCluster{Status: clusterv1.ManagedClusterStatus{ClusterClaims: []clusterv1.ManagedClusterClaim{
				{Name: "id", Value: "old"}, {Name: "id", Value: "new"},
			}}},
			want: ClusterInfo{Claims: map[string]string{"id": "new"}, Resources: map[string]float64{}},
		},
		{
			reason: "1.8: a resource counts when both allocatable and capacity are reported; the amount is the allocatable one",
			cluster: clusterv1.ManagedCluster{Status: clusterv1.ManagedClusterStatus{
				Allocatable: clusterv1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("2Ki")},
				Capacity:    clusterv1.ResourceList{"cpu": resource.MustParse("4"), "gpu": resource.MustParse("8")},
			}},
			want: ClusterInfo{Claims: map[string]string{}, Resources: map[string]float64{"cpu": 1.5}},
		},
		{
			reason:  "1.4c: a deletion timestamp makes the cluster terminating",
			cluster: clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted}},
			want:    ClusterInfo{Claims: map[string]string{}, Resources: map[string]float64{}, Terminating: true},
		},
		{
			reason: "only the condition ManagedClusterConditionAvailable=True makes the cluster available",
			cluster: clusterv1.ManagedCluster{Status: clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{
				{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue},
			}}},
			want: ClusterInfo{Claims: map[string]string{}, Resources: map[string]float64{}, Available: true},
		},
		{
			reason: "an Unknown condition does not",
			cluster: clusterv1.ManagedCluster{Status: clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{
				{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown},
			}}},
			want: ClusterInfo{Claims: map[string]string{}, Resources: map[string]float64{}},
		},
		{
			reason: "labels and taints stand as they are, in their order",
			cluster: clusterv1.ManagedCluster{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"region": "eu"}},
				Spec:       clusterv1.ManagedClusterSpec{Taints: []clusterv1.Taint{{Key: "b"}, {Key: "a"}}},
			},
			want: ClusterInfo{
				Labels: map[string]string{"region": "eu"}, Taints: []clusterv1.Taint{{Key: "b"}, {Key: "a"}},
				Claims: map[string]string{}, Resources: map[string]float64{},
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			tc.cluster.Name, tc.want.Name = "c1", "c1"
			got := *New(&tc.cluster, nil)
			got.source = nil
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(ClusterInfo{})); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewScoreSet(t *testing.T) {
	until := metav1.NewTime(noon)

	got := NewScoreSet(&clusterv1alpha1.AddOnPlacementScore{Status: clusterv1alpha1.AddOnPlacementScoreStatus{
		Scores: []clusterv1alpha1.AddOnPlacementScoreItem{
			{Name: "mem", Value: -100}, {Name: "cpu", Value: 1}, {Name: "mem", Value: 100},
		},
		ValidUntil: &until,
	}})
	want := ScoreSet{Names: []string{"mem", "cpu"}, Values: map[string]int32{"mem": 100, "cpu": 1}, ValidUntil: noon}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
}

func TestScoresExpire(t *testing.T) {
	for _, tc := range []struct {
		reason string
		until  time.Time
		want   bool
	}{
		{"1.4b: no validUntil never expires", time.Time{}, false},
		{"1.8: expired is now > validUntil, so the very moment still counts", noon, false},
		{"a moment later it does not", noon.Add(-1), true},
		{"the future counts", noon.Add(time.Second), false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got := (ScoreSet{ValidUntil: tc.until}).Expired(noon); got != tc.want {
				t.Errorf("expired = %v, want %v", got, tc.want)
			}
		})
	}
}

// TestObjectIsWhatCELSees checks that apiVersion, kind and empty fields are absent, numbers are int64, and quantities and times are strings
// (docs/spec/upstream-placement.md 1.7).
func TestObjectIsWhatCELSees(t *testing.T) {
	cluster := &clusterv1.ManagedCluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: "cluster.open-cluster-management.io/v1", Kind: "ManagedCluster"},
		ObjectMeta: metav1.ObjectMeta{Name: "c1", Generation: 3, CreationTimestamp: metav1.NewTime(noon)},
		Spec:       clusterv1.ManagedClusterSpec{LeaseDurationSeconds: 60},
		Status: clusterv1.ManagedClusterStatus{
			Allocatable: clusterv1.ResourceList{"cpu": resource.MustParse("2000m")},
		},
	}
	of := New(cluster, nil)

	got, err := of.Object()
	if err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"apiVersion", "kind"} {
		if _, there := got[absent]; there {
			t.Errorf("%s is there, want it absent", absent)
		}
	}

	metadata := map[string]any{"name": "c1", "generation": int64(3), "creationTimestamp": "2026-01-02T12:00:00Z"}
	if diff := cmp.Diff(any(metadata), got["metadata"]); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	spec := map[string]any{"leaseDurationSeconds": int64(60), "hubAcceptsClient": false}
	if diff := cmp.Diff(any(spec), got["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}

	status, ok := got["status"].(map[string]any)
	if !ok {
		t.Fatalf("status is %T", got["status"])
	}
	if diff := cmp.Diff(any(map[string]any{"cpu": "2"}), status["allocatable"]); diff != "" {
		t.Errorf("allocatable (-want +got):\n%s", diff)
	}

	again, err := of.WithScores(map[string]ScoreSet{"demo": {}}).Object()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("other scores change the object (-want +got):\n%s", diff)
	}
}

func TestProperties(t *testing.T) {
	for _, tc := range []struct {
		reason        string
		read, changed Property
		text          string
		want          bool
	}{
		{"the same fact", Property{Label, "region"}, Property{Label, "region"}, "label region", true},
		{"another name", Property{Label, "region"}, Property{Label, "zone"}, "label region", false},
		{"another kind of the same name", Property{Claim, "region"}, Property{Label, "region"}, "claim region", false},
		{"who reads a whole kind reads each of it", Property{Taint, ""}, Property{Taint, "gpu"}, "taint", true},
		{"a change of a whole kind changes each of it", Property{Score, "demo"}, Property{Score, ""}, "score demo", true},
		{"who reads anything reads a label", Property{Any, ""}, Property{Label, "region"}, "any", true},
		{"who reads a label does not read the rest", Property{Label, "region"}, Property{Any, ""}, "label region", false},
		{"resources", Property{Resource, "cpu"}, Property{Resource, "memory"}, "resource cpu", false},
		{"availability", Property{Availability, ""}, Property{Availability, ""}, "availability", true},
		{"names", Property{Name, "c1"}, Property{Name, "c2"}, "name c1", false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got := tc.read.Covers(tc.changed); got != tc.want {
				t.Errorf("%v covers %v = %v, want %v", tc.read, tc.changed, got, tc.want)
			}
			if got := tc.read.String(); got != tc.text {
				t.Errorf("text is %q, want %q", got, tc.text)
			}
			other := Property{Kind: Resource, Name: "nobody-reads-it"}
			if got := Affects([]Property{{Resource, "x"}, tc.read}, []Property{other, tc.changed}); got != tc.want {
				t.Errorf("touched = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestValue(t *testing.T) {
	f := New(&clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c1", Labels: map[string]string{"region": "eu", "empty": ""}},
		Status:     clusterv1.ManagedClusterStatus{ClusterClaims: []clusterv1.ManagedClusterClaim{{Name: "id", Value: "x"}}},
	}, nil)

	for _, tc := range []struct {
		reason string
		key    Property
		want   string
		found  bool
	}{
		{"a label", Property{Label, "region"}, "eu", true},
		{"an empty label is there", Property{Label, "empty"}, "", true},
		{"a label that is not there", Property{Label, "id"}, "", false},
		{"a claim", Property{Claim, "id"}, "x", true},
		{"a claim that is not there", Property{Claim, "region"}, "", false},
		{"the name, whichever was asked for", Property{Name, "c2"}, "c1", true},
		{"a taint is no text", Property{Taint, "region"}, "", false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got, found := f.Value(tc.key); got != tc.want || found != tc.found {
				t.Errorf("got %q, %v, want %q, %v", got, found, tc.want, tc.found)
			}
		})
	}
}
