// SPDX-License-Identifier: Apache-2.0

package clusterprofiles_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
)

func patterns(t *testing.T, list ...string) clusterprofiles.Patterns {
	t.Helper()
	parsed, err := clusterprofiles.ParsePatterns(list)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func withClaims(claims ...clusterv1.ManagedClusterClaim) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	cluster.Status.ClusterClaims = claims
	return cluster
}

// docs/spec/cluster-profiles.md CP5: one claim that a ClusterProfile cannot have does not keep the others from it.
func TestProperties(t *testing.T) {
	many := make([]clusterv1.ManagedClusterClaim, 300)
	for i := range many {
		many[i] = clusterv1.ManagedClusterClaim{Name: fmt.Sprintf("claim-%03d", 299-i), Value: "v"}
	}
	first := make([]clusterprofiles.Property, clusterprofiles.MaxProperties)
	for i := range first {
		first[i] = clusterprofiles.Property{Name: fmt.Sprintf("claim-%03d", i), Value: "v"}
	}
	const longest = clusterprofiles.MaxValueLength

	for name, test := range map[string]struct {
		reason   string
		claims   []clusterv1.ManagedClusterClaim
		selected []string
		want     []clusterprofiles.Property
		out      clusterprofiles.LeftOut
	}{
		"sorted": {
			reason: "the order of claims is no meaning",
			claims: []clusterv1.ManagedClusterClaim{{Name: "b", Value: "2"}, {Name: "a", Value: "1"}},
			want:   []clusterprofiles.Property{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}},
		},
		"too long": {
			reason: "the definition refuses 2,000 characters",
			claims: []clusterv1.ManagedClusterClaim{
				{Name: "a", Value: strings.Repeat("x", 2000)}, {Name: strings.Repeat("n", 254), Value: "1"}, {Name: "b", Value: "2"},
			},
			want: []clusterprofiles.Property{{Name: "b", Value: "2"}}, out: clusterprofiles.LeftOut{TooLong: 2},
		},
		"characters, not bytes": {
			reason: "the API server counts characters",
			claims: []clusterv1.ManagedClusterClaim{
				{Name: "a", Value: strings.Repeat("é", longest)}, {Name: "b", Value: strings.Repeat("é", longest+1)},
			},
			want: []clusterprofiles.Property{{Name: "a", Value: strings.Repeat("é", longest)}}, out: clusterprofiles.LeftOut{TooLong: 1},
		},
		"empty": {
			reason: "the definition refuses a property without a name or a value",
			claims: []clusterv1.ManagedClusterClaim{{Name: "a"}, {Value: "1"}, {Name: "b", Value: "2"}},
			want:   []clusterprofiles.Property{{Name: "b", Value: "2"}}, out: clusterprofiles.LeftOut{Empty: 2},
		},
		"doubled": {
			reason: "the first wins",
			claims: []clusterv1.ManagedClusterClaim{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}},
			want:   []clusterprofiles.Property{{Name: "a", Value: "1"}}, out: clusterprofiles.LeftOut{Doubled: 1},
		},
		"doubled, of which the first is invalid": {
			reason: "the first valid one wins",
			claims: []clusterv1.ManagedClusterClaim{{Name: "a"}, {Name: "a", Value: "2"}},
			want:   []clusterprofiles.Property{{Name: "a", Value: "2"}}, out: clusterprofiles.LeftOut{Empty: 1},
		},
		"many": {
			reason: "the last ones by name are left out, whatever the order of claims",
			claims: many, want: first, out: clusterprofiles.LeftOut{TooMany: 300 - clusterprofiles.MaxProperties},
		},
		"not selected": {
			reason:   "claims that no pattern selects are not counted",
			claims:   []clusterv1.ManagedClusterClaim{{Name: "x.example", Value: "1"}, {Name: "y"}, {Name: "y.other", Value: "1"}},
			selected: []string{"*.example"},
			want:     []clusterprofiles.Property{{Name: "x.example", Value: "1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			selected := test.selected
			if selected == nil {
				selected = []string{"*"}
			}
			profile, out := patterns(t, selected...).Profile(withClaims(test.claims...))
			if diff := cmp.Diff(test.want, profile.Status.Properties); diff != "" {
				t.Errorf("properties (-want +got): %s\n%s", test.reason, diff)
			}
			if diff := cmp.Diff(test.out, out); diff != "" {
				t.Errorf("left out (-want +got): %s\n%s", test.reason, diff)
			}
		})
	}
}

// docs/spec/cluster-profiles.md CP3 and CP4.
func TestProfile(t *testing.T) {
	available, joined := metav1.Unix(1000, 0), metav1.Unix(500, 0)
	cluster := withClaims(clusterv1.ManagedClusterClaim{Name: "region", Value: "eu"})
	cluster.Labels = map[string]string{"cluster.open-cluster-management.io/clusterset": "prod", "region": "eu"}
	cluster.Status.Version.Kubernetes = "v1.36.1"
	cluster.Status.Conditions = []metav1.Condition{
		{Type: "HubAcceptedManagedCluster", Status: metav1.ConditionTrue, Reason: "Accepted", LastTransitionTime: joined},
		{
			Type: "ManagedClusterConditionAvailable", Status: metav1.ConditionUnknown, Reason: "LeaseStopped", Message: "no lease",
			LastTransitionTime: available, ObservedGeneration: 7,
		},
		{Type: "ManagedClusterJoined", Status: metav1.ConditionTrue, Reason: "Joined", LastTransitionTime: joined},
	}

	got, _ := patterns(t, "*").Profile(cluster)
	want := &clusterprofiles.Profile{
		Name: "c1",
		Labels: map[string]string{
			clusterinventory.LabelClusterManagerKey: "open-cluster-management", clusterinventory.LabelClusterSetKey: "prod",
			"open-cluster-management.io/cluster-name": "c1",
		},
		Spec: clusterprofiles.Spec{DisplayName: "c1"},
		Status: clusterprofiles.Status{
			Version:    &clusterprofiles.Version{Kubernetes: "v1.36.1"},
			Properties: []clusterprofiles.Property{{Name: "region", Value: "eu"}},
			Conditions: []clusterprofiles.Condition{
				{
					Type: clusterinventory.ClusterConditionControlPlaneHealthy, Status: metav1.ConditionUnknown, Reason: "LeaseStopped",
					Message: "no lease", LastTransitionTime: available,
				},
				{Type: "Joined", Status: metav1.ConditionTrue, Reason: "Joined", LastTransitionTime: joined},
			},
		},
	}
	want.Spec.ClusterManager.Name = "open-cluster-management"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}

	cluster.ResourceVersion, cluster.Annotations = "2", map[string]string{"heartbeat": "1"}
	if again, _ := patterns(t, "*").Profile(cluster); !cmp.Equal(got, again) {
		t.Error("a ManagedCluster that says the same has another profile")
	}
}

// A cluster of which nothing is known yet has a ClusterProfile without a status (docs/spec/cluster-profiles.md CP4).
func TestProfileOfANewCluster(t *testing.T) {
	cluster := withClaims()
	cluster.Status.Conditions = []metav1.Condition{
		{Type: "ManagedClusterConditionAvailable", Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Unix(1, 0))},
		{Type: "ManagedClusterJoined", Status: metav1.ConditionTrue, Reason: "Joined"},
	}
	profile, out := patterns(t, "*").Profile(cluster)
	if diff := cmp.Diff(clusterprofiles.Status{}, profile.Status); diff != "" || out != (clusterprofiles.LeftOut{}) {
		t.Errorf("a condition without a reason or a time is in the status, or counted: %s, %v", diff, out)
	}
	if _, labelled := profile.Labels[clusterinventory.LabelClusterSetKey]; labelled {
		t.Error("the profile of a cluster without a set has the label of a set")
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		patterns []string
		name     string
		want     bool
	}{
		{nil, "region", false},
		{[]string{"*"}, "a/b\nc", true},
		{[]string{"region"}, "region", true},
		{[]string{"region"}, "region2", false},
		{[]string{"a.b"}, "axb", false},
		{[]string{"x", "id.*"}, "id.k8s.io", true},
		{[]string{"x|id"}, "id", false},
		{[]string{"*.k8s.io"}, "id.k8s.io", true},
		{[]string{"a*z"}, "az", true},
	} {
		if got := patterns(t, test.patterns...).Match(test.name); got != test.want {
			t.Errorf("patterns %q match %q: %t, want %t", test.patterns, test.name, got, test.want)
		}
	}
	if _, err := clusterprofiles.ParsePatterns([]string{"a", ""}); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("an empty pattern is no error that says so: %v", err)
	}
}
