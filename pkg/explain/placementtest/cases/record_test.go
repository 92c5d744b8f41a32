// SPDX-License-Identifier: Apache-2.0

package cases_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
)

func record(t *testing.T, content string, placements ...cases.Decided) string {
	t.Helper()
	recorded, err := cases.Record([]byte(content), placements)
	if err != nil {
		t.Fatal(err)
	}
	reader := cases.NewReader()
	reader.Read("cases.yaml", recorded)
	if err := reader.Err(); err != nil {
		t.Fatalf("PT13: %v\n%s", err, recorded)
	}
	return string(recorded)
}

func TestPT13Record(t *testing.T) {
	web := cases.Decided{Placement: "a/web", Clusters: []string{"c1", "c2"}}
	none := cases.Decided{Placement: "a/none", APIGroup: "placement.open-cluster-management.io"}
	first := record(t, "", web, none)
	if diff := cmp.Diff(first, record(t, first, web, none)); diff != "" {
		t.Errorf("PT13: a second run changes the file:\n%s", diff)
	}
	commented := "# Ours.\n" + strings.Replace(first, "- c1", "- c1 # the first", 1)
	if got := record(t, commented, web, none); got != commented {
		t.Errorf("PT13: a second run changes comments:\n%s", cmp.Diff(commented, got))
	}
	web.Clusters = []string{"c1", "c3"}
	got := record(t, commented, none, web)
	want := strings.Replace(commented, "- c2", "- c3", 1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PT13: other clusters (-want +got):\n%s", diff)
	}
	other := caseOf("mine", "objects: {placement: a/web}, when: {lost: {any: 1}}, expect: {selected: {exactly: [c9]}}")
	if got := record(t, other, web); !strings.HasPrefix(got, other+"---\n") || !strings.Contains(got, "decisions of a/web") {
		t.Errorf("PT13: a case of a user is changed:\n%s", got)
	}
}
