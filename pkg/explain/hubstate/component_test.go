// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// A kind that the hub does not serve is answered with what installs it, which exists.
func TestMissingKindNamesItsComponent(t *testing.T) {
	for group, want := range map[string]string{
		"kupid.gardener.cloud":               "deploy/components/podscheduling",
		"cozystack.io":                       "deploy/components/affinityclass",
		"apps.cozystack.io":                  "deploy/components/affinityclass",
		"cluster.openmcp.cloud":              "deploy/components/clusterrequest",
		"work.open-cluster-management.io":    "manifests/manifestworks",
		"cluster.open-cluster-management.io": "manifests/crds",
	} {
		t.Run(group, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join("..", "..", "..", want)); err != nil {
				t.Error(err)
			}
			err := fmt.Errorf("listing: %w", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: group, Kind: "Thing"}})
			r := &reader{}
			r.record("Things", "", err)
			if r.failed == nil || !strings.Contains(r.failed.Error(), want) {
				t.Errorf("error %v, want %s", r.failed, want)
			}
			if want == "manifests/crds" {
				return
			}
			state := &explain.State{}
			newReader(t.Context(), nil, state, forPods).record("Things", "so they are left out", err)
			newReader(t.Context(), nil, state, forDelivery).record("Things", "so they are left out", err)
			notes := slices.Concat(state.Pods.Missing, state.Federated.Missing)
			for _, text := range notes {
				if !strings.Contains(text, want+" installs them") && !strings.Contains(text, "needs, installs them") {
					t.Errorf("note %q, want %s", text, want)
				}
			}
			if len(notes) != 2 {
				t.Errorf("notes %q", notes)
			}
		})
	}
}
