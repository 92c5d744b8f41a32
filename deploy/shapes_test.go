// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/env/shapes"
)

// Every combination that `placement manifests` accepts has what its process needs to start. test/integration/chart has the kustomizations and
// the chart.
func TestEveryShapeStarts(t *testing.T) {
	for _, chosen := range everyChoice() {
		t.Run(fmt.Sprintf("%+v", chosen), func(t *testing.T) {
			objects, err := Objects(chosen)
			if err != nil {
				t.Fatal(err)
			}
			missing, err := shapes.Missing(objects)
			if err != nil {
				t.Fatal(err)
			}
			if len(missing) > 0 {
				t.Errorf("the process lacks\n  %s", strings.Join(missing, "\n  "))
			}
		})
	}
}

// everyChoice returns each combination of systems, of what they are beside, and of taints, which no hub beside upstream has.
func everyChoice() []Choices {
	systems := manifests.Systems()
	var all []Choices
	for chosen := range 1 << len(systems) {
		var some []string
		for n, system := range systems {
			if chosen&(1<<n) != 0 {
				some = append(some, system)
			}
		}
		all = append(all, Choices{Systems: some}, Choices{Systems: some, WithoutTaints: true}, Choices{Systems: some, BesideUpstream: true})
	}
	return all
}
