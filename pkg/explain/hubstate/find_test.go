// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

func TestFind(t *testing.T) {
	both := []inventory.Key{
		inventory.NewPlacementKey(inventory.V1beta1, "a", "p"), inventory.NewPlacementKey(inventory.V1alpha1, "a", "p"),
	}
	for _, tc := range []struct {
		reason    string
		refuse    map[string]error
		wantFound int
		wantError string
	}{
		{reason: "in both APIs", wantFound: 2},
		{reason: "an API that is not served has none", refuse: map[string]error{"older Placement a": &meta.NoKindMatchError{}}, wantFound: 1},
		{
			reason: "what may not be listed is not missed when the other is there",
			refuse: map[string]error{"older Placement a": forbidden("older")}, wantFound: 1,
		},
		{
			reason:    "nothing is there, and not all may be seen",
			refuse:    map[string]error{"Placement a": forbidden("placements"), "older Placement a": &meta.NoKindMatchError{}},
			wantError: "ask an administrator",
		},
		{
			reason: "anything else is an error", refuse: map[string]error{"Placement a": errors.New("connection refused")},
			wantError: "listing Placements: connection refused",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			found, err := Find(t.Context(), &hub{refuse: tc.refuse}, both)
			if len(found) != tc.wantFound || (err != nil) != (tc.wantError != "") || err != nil && !strings.Contains(err.Error(), tc.wantError) {
				t.Errorf("found %v, error %v; want %d and %q", found, err, tc.wantFound, tc.wantError)
			}
		})
	}
}

func TestNamespacesAreAHint(t *testing.T) {
	key := keys(inventory.V1beta1, "a")
	if namespaces := Namespaces(t.Context(), &hub{}, key); len(namespaces) != 1 {
		t.Errorf("namespaces are %q", namespaces)
	}
	if namespaces := Namespaces(t.Context(), &hub{refuse: map[string]error{"Placement ": forbidden("placements")}}, key); namespaces != nil {
		t.Errorf("namespaces are %q although they may not be listed", namespaces)
	}
}

func TestWrittenSaysWhatCouldNotBeRead(t *testing.T) {
	h := &hub{refuse: map[string]error{"PlacementDecision a": forbidden("placementdecisions")}}
	reports, err := Written(t.Context(), h, keys(inventory.V1beta1, "a"), "as this is a test")
	if err == nil || len(reports) != 1 || reports[0].Unanswered != "as this is a test" ||
		!slices.ContainsFunc(reports[0].Notes, func(note string) bool { return strings.HasPrefix(note, "the decisions could not be read") }) {
		t.Errorf("reports are %+v, error %v", reports, err)
	}
	list, err := WrittenUnsatisfied(t.Context(), &hub{refuse: map[string]error{"older Placement a": forbidden("older")}}, "a")
	if err != nil || list.Evaluated != 1 {
		t.Errorf("list is %+v, error %v", list, err)
	}
}
