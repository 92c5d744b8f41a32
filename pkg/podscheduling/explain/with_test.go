// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"github.com/placement-hub/placement-hub/pkg/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

func init() { //nolint:gochecknoinits // The package of State, which has With, imports this one.
	pods.With = func(before, change *pods.Objects) (*pods.Objects, []pods.Applied) {
		given := &explain.State{Pods: *change}

		after, applied, err := (&explain.State{Pods: *before}).With(given.Each(explain.OfPods))
		if err != nil {
			panic(err)
		}
		var results []pods.Applied
		for _, one := range applied {
			if one.Kind.Admit != nil {
				results = append(results, one.Result)
			}
		}
		return &after.Pods, results
	}
}
