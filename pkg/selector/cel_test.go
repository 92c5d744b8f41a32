// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func cluster() *clusterinfo.ClusterInfo {
	return clusterinfo.New(&clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c1", Labels: map[string]string{"region": "eu", "version": "1.30.4"}},
		Status: clusterv1.ManagedClusterStatus{
			ClusterClaims: []clusterv1.ManagedClusterClaim{
				{Name: "arn", Value: "arn:aws:eks:eu-west-1:123456789012:cluster/a-name-that-is-longer-than-sixty-three-characters"},
				{Name: "json", Value: `{"gpus": [{"kind": "a100", "count": 2}]}`},
			},
		},
	}, map[string]clusterinfo.ScoreSet{
		"demo":    {Names: []string{"cpu", "mem"}, Values: map[string]int32{"cpu": 90, "mem": -3}},
		"expires": {Names: []string{"cpu"}, Values: map[string]int32{"cpu": 90}, ValidUntil: now.Add(time.Minute)},
		"expired": {Names: []string{"cpu"}, Values: map[string]int32{"cpu": 90}, ValidUntil: now.Add(-time.Minute)},
	})
}

func paths() Paths {
	root := field.NewPath("spec")
	return Paths{
		Name: root.Child("clusterName"), Labels: root.Child("labelSelector"), ClaimValues: root.Child("claimSelector", "matchClaims"),
		Claims: root.Child("claimSelector", "matchExpressions"), CEL: root.Child("celExpressions"),
	}
}

func TestCELEvaluation(t *testing.T) {
	for _, tc := range []struct {
		name, expression, err string
		want                  bool
		wakeAt                time.Time
		reads                 []clusterinfo.Property
	}{
		{name: "label", expression: `managedCluster.metadata.labels["region"] == "eu"`, want: true,
			reads: []clusterinfo.Property{{Kind: clusterinfo.Label, Name: "region"}, {Kind: clusterinfo.Field, Name: "metadata.labels"}}},
		{name: "claim", expression: `managedCluster.status.clusterClaims.exists(c, c.name == "arn" && c.value.startsWith("arn:aws"))`,
			want: true, reads: []clusterinfo.Property{{Kind: clusterinfo.Field, Name: "status.clusterClaims"}}},
		{name: "typo is a run-time error", expression: `managedCluster.metadata.lables["region"] == "eu"`, err: "no such key: lables",
			reads: []clusterinfo.Property{{Kind: clusterinfo.Any}}},
		{
			name: "optional", expression: `managedCluster.?spec.?nothing.orValue("x") == "x"`, want: true,
			reads: []clusterinfo.Property{{Kind: clusterinfo.Any}},
		},
		{name: "semver", expression: `semver(managedCluster.metadata.labels["version"]).isGreaterThan(semver("1.29.0"))`, want: true,
			reads: []clusterinfo.Property{{Kind: clusterinfo.Label, Name: "version"}, {Kind: clusterinfo.Field, Name: "metadata.labels"}}},
		{name: "a string function of unknown cost", expression: `managedCluster.metadata.name.substring(1) == "1"`, want: true,
			reads: []clusterinfo.Property{{Kind: clusterinfo.Field, Name: "metadata.name"}}},
		{name: "scores", expression: `managedCluster.scores("demo").filter(s, s.name == "cpu").all(s, s.value > 80)`, want: true,
			reads: []clusterinfo.Property{{Kind: clusterinfo.Score, Name: "demo"}}},
		{name: "scores missing", expression: `managedCluster.scores("none").size() == 0`,
			err: `AddOnPlacementScore "none" of cluster c1 does not exist`, reads: []clusterinfo.Property{{Kind: clusterinfo.Score, Name: "none"}}},
		{name: "scores valid for now", expression: `managedCluster.scores("expires").exists(s, s.value > 80)`, want: true,
			wakeAt: now.Add(time.Minute + 1), reads: []clusterinfo.Property{{Kind: clusterinfo.Score, Name: "expires"}}},
		{name: "scores expired", expression: `managedCluster.scores("expired").size() == 0`, want: true,
			reads: []clusterinfo.Property{{Kind: clusterinfo.Score, Name: "expired"}}},
		{name: "parseJSON", expression: `managedCluster.status.clusterClaims.exists(c, c.name == "json" && ` +
			`c.value.parseJSON().gpus.exists(g, g.kind == "a100" && g.count == 2.0))`, want: true,
			reads: []clusterinfo.Property{{Kind: clusterinfo.Field, Name: "status.clusterClaims"}}},
		{name: "cost", err: "operation cancelled: actual cost limit exceeded",
			expression: `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, ` +
				`[1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, managedCluster.metadata.name.matches("c.*") && ` +
				`[1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, true))))))`,
			reads: []clusterinfo.Property{{Kind: clusterinfo.Field, Name: "metadata.name"}}},
		{name: "dynamic non-boolean", expression: `managedCluster.metadata.name`, err: "must be a boolean, but is string",
			reads: []clusterinfo.Property{{Kind: clusterinfo.Field, Name: "metadata.name"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{tc.expression}})
			if len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			evaluation := &EvalContext{Now: now}
			verdict := s.Match(cluster(), evaluation)
			if verdict.Matched != tc.want {
				t.Errorf("matched = %v, want %v: %s", verdict.Matched, tc.want, verdict.Failure())
			}

			text := ""
			if verdict.Err != nil {
				text = verdict.Err.Error()
			}
			if diff := cmp.Diff(tc.err, text); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if !evaluation.RequeueAt().Equal(tc.wakeAt) {
				t.Errorf("wakes at %v, want %v", evaluation.RequeueAt(), tc.wakeAt)
			}

			if diff := cmp.Diff(tc.reads, s.Reads()); diff != "" {
				t.Errorf("reads (-want +got):\n%s", diff)
			}
			if evaluation.Cost() == 0 {
				t.Error("the evaluation cost nothing")
			}
		})
	}
}

func TestCELMistakes(t *testing.T) {
	for _, tc := range []struct{ name, expression, want string }{
		{"syntax", `managedCluster.`, "compilation failed: 1:16: Syntax error: no viable alternative at input '.'"},
		{"unknown variable", `cluster.metadata.name == "c1"`, "compilation failed: 1:1: undeclared reference to 'cluster' (in container '')"},
		{"now is not offered", `now() == timestamp("2026-01-01T00:00:00Z")`,
			"compilation failed: 1:4: undeclared reference to 'now' (in container '')"},
		{"not boolean", `size(managedCluster.metadata.name)`, "must be a boolean expression, but its type is int"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{"true", tc.expression}})
			if len(errs) != 1 {
				t.Fatalf("got %d errors, want 1: %v", len(errs), errs)
			}
			if diff := cmp.Diff("spec.celExpressions[1]", errs[0].Field); diff != "" {
				t.Errorf("field (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, errs[0].Detail); diff != "" {
				t.Errorf("detail (-want +got):\n%s", diff)
			}
		})
	}
}
