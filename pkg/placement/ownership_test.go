// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// scheduled is a format with a scheduler name.
type scheduled struct{ references }

func (scheduled) Scheduler() string { return "hub" }

// docs/spec/differences.md B4: a page belongs to the Placement that owns it, or whose label and scheduler name it has. A page of the Placement
// with another scheduler name gets its own one back.
func TestOwns(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	codec := scheduled{references{api.V1beta1.Codec()}}
	ours := ownerReference(placement)
	restored, stranger, other := ours, ours, ours
	restored.UID, stranger.Name, stranger.UID = "uid-before-the-restore", "q", "uid-q"
	other.APIVersion, other.Kind, other.Name = "v1", "ConfigMap", "x"
	for _, tc := range []struct {
		reason    string
		scheduler string
		labelled  bool
		owners    []metav1.OwnerReference
		want      bool
		steps     []string
	}{
		{"label and owner", "hub", true, []metav1.OwnerReference{ours}, true, []string{}},
		{"no label", "hub", false, []metav1.OwnerReference{ours}, true, []string{`mend p-decision-1 group  "": c-1`}},
		{"no owner", "hub", true, nil, true, []string{`mend p-decision-1 group  "": c-1`}},
		{"an owner with an old uid", "hub", true, []metav1.OwnerReference{restored}, true, []string{`mend p-decision-1 group  "": c-1`}},
		{"an owner of another kind with our uid", "hub", false, []metav1.OwnerReference{other}, false, nil},
		{"another placement owns it", "hub", true, []metav1.OwnerReference{stranger}, false, nil},
		{"neither label nor owner", "hub", false, nil, false, nil},
		{"no scheduler name", "", true, []metav1.OwnerReference{ours}, true, []string{`fill p-decision-1 group  "": c-1`}},
		{"neither scheduler name nor label", "", false, []metav1.OwnerReference{ours}, true, []string{`mend and fill p-decision-1 group  "": c-1`}},
		{"neither scheduler name nor owner", "", true, nil, false, nil},
		{"another scheduler name", "other", true, []metav1.OwnerReference{ours}, true, []string{`fill p-decision-1 group  "": c-1`}},
		{"another scheduler name and no label", "other", false, []metav1.OwnerReference{ours}, false, nil},
		{"another scheduler name and no owner", "other", true, nil, false, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			found := page(1, 0, "", "c-1")
			found.Scheduler, found.OwnerReferences, found.Labels = tc.scheduler, tc.owners, nil
			if tc.labelled {
				found.Labels = codec.Labels("p", api.Group{})
			}
			asked := api.V1beta1.Read(placement)
			expect(t, "owned", tc.want, Owns(codec, asked, found))
			if !tc.want {
				return
			}
			kept := keepDecisions(NewExisting(codec, asked, []*api.Page{found}), func(d *api.Decision) api.Decision { return *d })
			expect(t, "steps", tc.steps, steps(kept.Plan()))
		})
	}
}
