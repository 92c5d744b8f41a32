// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// TestExplainEqualsMatch checks that the clauses of Explain agree with Match, and that clauses after a failed one are evaluated too.
func TestExplainEqualsMatch(t *testing.T) {
	f := clusterinfo.New(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", Labels: map[string]string{"region": "eu"}}}, nil)

	s, errs := NewCompiler().Compile(Paths{}, Spec{
		Labels: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in("region", "us"), exists("region")}},
		CEL:    []string{`managedCluster.metadata.labels["region"] == "us"`, `managedCluster.metadata.labels["zone"] == "a"`},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var texts []string

	clauses := s.Explain(f, &EvalContext{})
	for _, clause := range clauses {
		if clause.Matches != (clause.Failure == "") {
			t.Errorf("%s holds: %v, and fails with %q", clause.Text, clause.Matches, clause.Failure)
		}
		texts = append(texts, clause.Text+" | "+clause.Failure)
	}

	want := []string{
		"label region In [us] | label region In [us]: is eu", "label region Exists | ",
		`CEL managedCluster.metadata.labels["region"] == "us" | CEL managedCluster.metadata.labels["region"] == "us": is false`,
		`CEL managedCluster.metadata.labels["zone"] == "a" | CEL managedCluster.metadata.labels["zone"] == "a": no such key: zone`,
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("clauses (-want +got):\n%s", diff)
	}

	if first := s.Match(f, &EvalContext{}).Failure(); first != clauses[0].Failure {
		t.Errorf("Match says %q", first)
	}
	if region := (clusterinfo.Property{Kind: clusterinfo.Label, Name: "region"}); !slices.Contains(clauses[2].Reads, region) {
		t.Errorf("%s reads %v", clauses[2].Text, clauses[2].Reads)
	}
}
