// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"strings"
	"testing"
)

// Runbooks are served to everybody, also while the API server does not say who asks, and conditions lead to their sections.
func TestRunbooksAreServed(t *testing.T) {
	pages := newPages(newTestHub(world()...))
	for _, tc := range []struct {
		path string
		code int
		want string
	}{
		{"/runbooks", http.StatusOK, `href="/runbooks/PlacementHubHasNoLeader"`},
		{"/runbooks/PlacementHubHasNoLeader", http.StatusOK, "When to escalate"},
		{"/runbooks/PlacementSatisfied", http.StatusOK, `id="NoManagedClusterMatched"`},
		{"/runbooks/None", http.StatusNotFound, "there is no such runbook"},
	} {
		response := as(t, pages, "", http.MethodGet, tc.path, "")
		if text := response.Body.String(); response.Code != tc.code || !strings.Contains(text, tc.want) || strings.Contains(text, "data-follows") {
			t.Errorf("%s: status %d, without %q: %s", tc.path, response.Code, tc.want, text)
		}
	}
	objects := world()
	objects[3].SetName("other") // The Placement has no set.
	text := as(t, newPages(newTestHub(objects...)), "jane", http.MethodGet, "/placements/team-a/web", "").Body.String()
	if !strings.Contains(text, `href="/runbooks/PlacementSatisfied#`) {
		t.Errorf("a condition leads to no runbook: %s", text)
	}
}
