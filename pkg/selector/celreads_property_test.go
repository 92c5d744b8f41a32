// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/test/property"
)

// drawLookup draws a path into the cluster in any of its spellings, sometimes an invalid path.
func drawLookup(t *rapid.T) string {
	at := rapid.SampledFrom([]string{"managedCluster", "managedCluster", "managedCluster", "dyn(managedCluster)"}).Draw(t, "root")
	path := rapid.SampledFrom([]string{
		"metadata.labels.x", "metadata.labels.y", "metadata.labels", "metadata.annotations.x", "metadata.generation", "metadata.lables",
		"spec.taints", "spec.hubAcceptsClient", "status.version.kubernetes", "status.version", "status.clusterClaims",
		"status.allocatable.cpu", "status.capacity", "status.conditions", "status", "nothing",
	}).Draw(t, "path")
	for name := range strings.SplitSeq(path, ".") {
		at = fmt.Sprintf(rapid.SampledFrom([]string{`%s.%s`, `%s["%s"]`, `%s.?%s`, `%s[?"%s"]`}).Draw(t, "step"), at, name)
	}
	return at
}

// drawExpression draws an expression over the cluster, of any type.
func drawExpression(t *rapid.T) string {
	question := rapid.SampledFrom([]string{
		`dyn(%[1]s)`, `dyn(%[1]s) == "a"`, `dyn(%[1]s) == dyn(%[2]s)`, `dyn(%[1]s).orValue("none")`, `dyn(%[1]s).hasValue()`,
		`size(dyn(%[1]s))`, `"x" in dyn(%[1]s)`, `"x" in %[1]s`, `"labels" in %[1]s`, `has(%[1]s.x)`, `has(%[1]s.labels)`,
		`dyn(%[1]s).exists(e, dyn(e) == "x" || dyn(e).name == "x")`, `dyn(%[1]s).all(e, has(e.effect))`,
		`managedCluster.scores("x").exists(s, dyn(s.value) == dyn(%[1]s))`, `managedCluster.scores("x").size()`,
		`managedCluster.scores(string(%[1]s)).size()`,
	})
	ask := func() string {
		return "dyn(" + fmt.Sprintf(question.Draw(t, "question")+"%.0[1]s%.0[2]s", drawLookup(t), drawLookup(t)) + ")"
	}

	switch rapid.IntRange(0, 5).Draw(t, "combined") {
	case 0:
		return "!" + ask()
	case 1:
		return ask() + " || " + ask()
	case 2:
		return ask() + " && " + ask()
	case 3:
		return ask() + ` == "a" ? ` + ask() + " : " + ask()
	default:
		return ask()
	}
}

// drawObject draws a cluster that has or lacks any field that an expression may read.
func drawObject(t *rapid.T, label string) *clusterv1.ManagedCluster {
	flag := func(what string) bool { return rapid.Bool().Draw(t, label+" "+what) }
	c := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: "c1", Labels: legal(t, label+" labels"), Annotations: legal(t, label+" annotations"),
			Generation: rapid.Int64Range(0, 1).Draw(t, label+" generation"),
		},
		Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: flag("accepted")},
	}
	if flag("tainted") {
		c.Spec.Taints = []clusterv1.Taint{{Key: "x", Effect: clusterv1.TaintEffectNoSelect}}
	}

	if flag("of a version") {
		c.Status.Version.Kubernetes = "a"
	}
	if flag("with claims") {
		c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "x", Value: value().Draw(t, label+" claim")}, {Name: "y"}}
	}

	if flag("with resources") {
		c.Status.Allocatable = clusterv1.ResourceList{
			"cpu": resource.MustParse(rapid.SampledFrom([]string{"1024", "1Ki"}).Draw(t, label+" amount")),
		}
		c.Status.Capacity = clusterv1.ResourceList{"x": resource.MustParse("1")}
	}
	if flag("with conditions") {
		c.Status.Conditions = rapid.SliceOfN(rapid.Just(metav1.Condition{Type: "x"}), 0, 1).Draw(t, label+" conditions")
	}
	return c
}

// withOneChange returns the cluster with one part of another.
func withOneChange(t *rapid.T, cluster, other *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	changed := cluster.DeepCopy()
	switch rapid.IntRange(0, 7).Draw(t, "change") {
	case 0:
		changed.Labels = other.Labels
	case 1:
		changed.Annotations = other.Annotations
	case 2:
		changed.Spec = other.Spec
	case 3:
		changed.Status.Version = other.Status.Version
	case 4:
		changed.Status.ClusterClaims = other.Status.ClusterClaims
	case 5:
		changed.Status.Allocatable, changed.Status.Capacity = other.Status.Allocatable, other.Status.Capacity
	case 6:
		changed.Status.Conditions = other.Status.Conditions
	default:
		changed.Generation = other.Generation
	}

	return changed
}

// valueText returns the value of an expression, or its error.
func valueText(p *program, f *clusterinfo.ClusterInfo) string {
	result, err := p.value(f, &EvalContext{Now: now})
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%s %v", result.Type().TypeName(), result.Value())
}

// TestReadsOfExpressionsAreComplete checks that a change of properties that an expression does not read changes neither its value nor its
// error.
func TestReadsOfExpressionsAreComplete(t *testing.T) {
	compiler := NewCompiler()
	property.Check(t, func(t *rapid.T) {
		source := drawExpression(t)

		p, err := compiler.program(source)
		if err != nil {
			return // Some operations are invalid for an optional value.
		}
		one := drawObject(t, "before")
		before := clusterinfo.New(one, drawCluster(t, "before").Scores)

		for range 20 {
			one = withOneChange(t, one, drawObject(t, "after"))
			after := before.Update(one)
			if rapid.IntRange(0, 3).Draw(t, "scores") == 0 {
				after = before.WithScores(drawCluster(t, "after").Scores)
			}
			changes := clusterinfo.ChangedProperties(before, after)
			if was, is := valueText(p, before), valueText(p, after); was != is && !clusterinfo.Affects(p.reads, changes) {
				t.Fatalf("%s reads %v, which leaves out %v: %q became %q", source, p.reads, changes, was, is)
			}
			before = after
		}
	})
}
