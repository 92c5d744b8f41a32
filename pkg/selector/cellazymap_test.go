// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"testing"

	"github.com/google/cel-go/common/types"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/test/property"
)

// wholeValue returns the value of an expression over the whole cluster as a map, or its error.
func wholeValue(t *rapid.T, p *program, f *clusterinfo.ClusterInfo) string {
	object, err := f.Object()
	if err != nil {
		t.Fatal(err)
	}
	evaluation := &EvalContext{Now: now}
	whole := types.NewStringInterfaceMap(types.DefaultTypeAdapter, object)

	result, err := p.valueOf(&clusterValue{Mapper: whole, info: f, evaluation: evaluation, meter: newMeter(expressionCost, nil)})
	if err != nil {
		return fmt.Sprintf("error: %v", err)
	}
	return fmt.Sprintf("%s %v", result.Type().TypeName(), result.Value())
}

// TestLazyMapsEqualWholeObjects checks that expressions have the same value and error with a lazyMap as with the whole object.
func TestLazyMapsEqualWholeObjects(t *testing.T) {
	compiler := NewCompiler()
	fixed := []string{
		`managedCluster.size() == 3`, `managedCluster.metadata.exists_one(k, k == "labels")`, `managedCluster.status == managedCluster.status`,
		`managedCluster == managedCluster`, `"status" in managedCluster`, `"kind" in managedCluster`, `managedCluster.kind == "x"`,
		`managedCluster.status.nothing == 1`, `managedCluster.metadata["labels"].size() > 1`, `managedCluster["spec"].size() > 0`,
		`has(managedCluster.status.clusterClaims)`, `managedCluster.status.clusterClaims.exists(c, c.name == "id" && c.value == "1")`,
		`managedCluster.status.clusterClaims.filter(c, c.name == "id")[0].value == "1"`, `managedCluster.metadata.name.startsWith("c")`,
		`managedCluster.status.capacity["cpu"] == "4"`, `type(managedCluster) == map`, `type(managedCluster.metadata) == map`,
		`{"a": managedCluster.metadata}["a"].name == "c"`, `managedCluster.?metadata.?labels[?"x"].orValue("") == ""`,
		`managedCluster.metadata.creationTimestamp == null`, `managedCluster.spec.hubAcceptsClient`, `managedCluster[1] == 2`,
		`managedCluster.metadata in [managedCluster.metadata]`,
	}

	property.Check(t, func(t *rapid.T) {
		source := rapid.OneOf(rapid.SampledFrom(fixed), rapid.Custom(drawExpression)).Draw(t, "expression")

		p, err := compiler.program(source)
		if err != nil {
			return
		}
		f := clusterinfo.New(drawObject(t, "cluster"), drawCluster(t, "scored").Scores)
		evaluation := &EvalContext{Now: now}
		said := sparsely(p, f, evaluation)
		if want := wholeValue(t, p, f); said != want {
			t.Fatalf("%s is %s, and over the whole cluster %s", source, said, want)
		}
	})
}

func sparsely(p *program, f *clusterinfo.ClusterInfo, evaluation *EvalContext) string {
	result, err := p.value(f, evaluation)
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%s %v", result.Type().TypeName(), result.Value())
}
