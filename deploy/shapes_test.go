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

// everyChoice returns each combination of systems, of what they are beside, and of taints, which no hub beside upstream has. Each is there without
// and with other choices, whose 16 combinations take turns: each of them meets each system, with and without each other one.
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
		for n, beside := range []Choices{{Systems: some}, {Systems: some, WithoutTaints: true}, {Systems: some, BesideUpstream: true}} {
			all = append(all, beside, withOthers(beside, chosen+n))
		}
	}
	return all
}

// withOthers returns choices with those of the others whose bits are set in a number.
func withOthers(chosen Choices, bits int) Choices {
	for n, choose := range []func(){
		func() { chosen.WithoutFlowSchemas = true },
		func() { chosen.ManifestWorks = true },
		func() { chosen.WebhookURL = "https://hub.example.com:9443" },
		func() { chosen.ExplainAddress = "https://explanations.example.com" },
	} {
		if bits&(1<<n) != 0 {
			choose()
		}
	}
	return chosen
}
