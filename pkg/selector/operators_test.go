// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// TestLabelRequirementsAreThoseOfKubernetes checks that requirements with every operator match the same labels as in apimachinery.
func TestLabelRequirementsAreThoseOfKubernetes(t *testing.T) {
	numbers := rapid.SampledFrom([]string{"0", "1", "01", "2", "9223372036854775807"})
	values := rapid.SampledFrom([]string{"", "a", "1", "2", "1.5", "02", "9223372036854775808"})
	property.Check(t, func(t *rapid.T) {
		var requirements []labels.Requirement
		want := labels.NewSelector()
		for range rapid.IntRange(0, 3).Draw(t, "requirements") {
			var given []string
			operator := rapid.SampledFrom([]selection.Operator{
				selection.In, selection.NotIn, selection.Equals, selection.DoubleEquals, selection.NotEquals,
				selection.Exists, selection.DoesNotExist, selection.GreaterThan, selection.LessThan,
			}).Draw(t, "operator")
			switch operator {
			case selection.Exists, selection.DoesNotExist:
			case selection.In, selection.NotIn:
				given = rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "1", "2"}), 1, 3).Draw(t, "values")
			default:
				given = []string{numbers.Draw(t, "value")}
			}

			requirement, err := labels.NewRequirement(key().Draw(t, "key"), operator, given)
			if err != nil {
				t.Fatal(err)
			}
			requirements, want = append(requirements, *requirement), want.Add(*requirement)
		}

		compiled, errs := NewCompiler().Compile(Paths{}, Spec{LabelRequirements: requirements})
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		cluster := drawCluster(t, "cluster")
		cluster.Labels = rapid.MapOfN(key(), values, 0, 3).Draw(t, "labels")
		if got, want := compiled.Matches(cluster, &EvalContext{}), want.Matches(labels.Set(cluster.Labels)); got != want {
			t.Errorf("%v on %v = %v, want %v", compiled, cluster.Labels, got, want)
		}
	})
}
