// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// docs/spec/placement-v1alpha1.md P13: pages have no status subresource, so each write is one request.
func TestWriterOfTheOlderAPI(t *testing.T) {
	codec := api.V1alpha1.Codec()
	lost := edited(older(1, down("a")), func(p *api.Page) { p.OwnerReferences = nil })
	stale := edited(older(2, down("z")), func(p *api.Page) { p.Labels = map[string]string{"team": "a"} })
	present := pages{lost, stale, older(3, down("c")), older(4, down("d"))}
	write := func(n int, create, mend, fill bool, decisions ...api.Decision) Write {
		desired := older(n, decisions...)
		if n > len(present) {
			desired.UID, desired.ResourceVersion = "", ""
			return Write{Desired: desired, Create: create, UpdateMetadata: mend, UpdateDecisions: fill}
		}
		return Write{Current: present[n-1], Desired: desired, Create: create, UpdateMetadata: mend, UpdateDecisions: fill}
	}
	plan := Plan{Codec: codec, Writes: []Write{
		write(1, false, true, false, down("a")), write(2, false, true, true, up("b")), write(3, false, false, true, up("c")),
		write(5, true, false, true, up("e"), down("f")), write(5, false, false, true, []api.Decision{}...),
	}, Deletes: present[3:]}
	plan.Writes[4].Current = nil
	objects := make([]client.Object, 0, len(present))
	for _, p := range present {
		objects = append(objects, codec.Write(p))
	}

	s := newServer(t, objects...)
	var told []string
	written, err := Writer{Client: s}.Write(t.Context(), plan, observer(&told))
	if err != nil {
		t.Fatal(err)
	}
	if err := (Writer{Client: s}).Delete(t.Context(), plan, written, observer(&told)); err != nil {
		t.Fatal(err)
	}
	const patch = "patch p-decision-%d uid=%s rv=%d application/merge-patch+json "

	expect(t, "requests", []string{
		fmt.Sprintf(patch, 1, "uid-1", 1) + "labels ownerReferences",
		fmt.Sprintf(patch, 2, "uid-2", 2) + `labels ownerReferences [{"available":true,"clusterName":"b"}]`,
		fmt.Sprintf(patch, 3, "uid-3", 3) + `[{"available":true,"clusterName":"c"}]`,
		"create p-decision-5",
		fmt.Sprintf(patch, 5, "", 1) + `[]`,
		"delete p-decision-4 uid=uid-4 rv=4",
	}, s.requests)
	expect(t, "told", []string{
		"update_metadata p-decision-1 <nil>", "update_decisions p-decision-2 <nil>", "update_decisions p-decision-3 <nil>",
		"create p-decision-5 <nil>", "update_decisions p-decision-5 <nil>",
		"delete p-decision-4 <nil>",
	}, told)

	second := written["p-decision-2"]
	expect(t, "decisions", []api.Decision{up("b")}, second.Decisions)
	expect(t, "labels", map[string]string{"team": "a", placementv1alpha1.PlacementLabel: "p"}, second.Labels)
	expect(t, "owners", older(2).OwnerReferences, second.OwnerReferences)
	found := &placementv1alpha1.PlacementDecision{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "p-decision-2"}, found); err != nil {
		t.Fatal(err)
	}
	expect(t, "stored", []placementv1alpha1.ClusterDecision{{ClusterName: "b", Available: true}}, found.Decisions)
}

// The older API has conditions only: what else there is to say is no difference.
func TestWriteStatusOfTheOlderAPI(t *testing.T) {
	placement := olderPlacementOf(nil)
	before := api.V1alpha1.Read(placement)
	s := newServer(t, placement.DeepCopy())
	result := newStore(placement).schedule(stateOf("a"))
	status := NewStatus(result, Plan{Selected: 1}, before, now)

	written, err := (Writer{Client: s}).WriteStatus(t.Context(), before, status)
	if err != nil {
		t.Fatal(err)
	}
	status.Selected, status.LastScoreUpdate = 9, &now
	status.Groups = []api.GroupStatus{{Pages: []string{"p-decision-1"}}}
	if again, err := (Writer{Client: s}).WriteStatus(t.Context(), written, status); err != nil || again != nil {
		t.Errorf("what the API cannot say gives %v, %v, want nothing", again, err)
	}

	expect(t, "requests", []string{`patch p/status uid=uid-p rv=70 application/merge-patch+json {"conditions":[` +
		`{"lastTransitionTime":"2026-01-02T03:04:05Z","message":"Placement configurations check pass","observedGeneration":7,` +
		`"reason":"Succeedconfigured","status":"False","type":"PlacementMisconfigured"},` +
		`{"lastTransitionTime":"2026-01-02T03:04:05Z","message":"All cluster decisions scheduled","observedGeneration":7,` +
		`"reason":"AllDecisionsScheduled","status":"True","type":"PlacementSatisfied"}]}`}, s.requests)
}
