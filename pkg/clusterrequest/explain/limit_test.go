// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestE1aClustersOfOtherNamespacesAreOnlyCounted(t *testing.T) {
	report := Report{
		Namespace: "team-a", Cluster: &Granted{Namespace: "platform", Name: "shared"},
		Clusters: []Cluster{
			{Namespace: "platform", Name: "shared", Rank: 1}, {Namespace: "team-a", Name: "own", Lack: "x", LackKind: "Trait"},
			{Namespace: "team-b", Name: "theirs", Lack: "the request of team-b", LackKind: "Tenancy"}, {Namespace: "team-c", Name: "free", Rank: 2},
		},
		Changes: []Change{
			{Edits: []string{"e"}, Cluster: "team-b/theirs"}, {Edits: []string{"f"}, Cluster: "team-a/own"},
			{Edits: []string{"g"}, Cluster: "platform/new", New: true},
		},
	}
	LimitReport(&report)

	if diff := cmp.Diff([]Cluster{
		{Namespace: "platform", Name: "shared", Rank: 1}, {Namespace: "team-a", Name: "own", Lack: "x", LackKind: "Trait"},
	}, report.Clusters); diff != "" {
		t.Errorf("Clusters (-want +got):\n%s", diff)
	}
	if got := report.Changes[0].Cluster + ", " + report.Changes[1].Cluster + ", " + report.Changes[2].Cluster; got !=
		"a Cluster of another namespace, team-a/own, platform/new" {
		t.Errorf("changes grant %s", got)
	}

	if got := strings.Join(report.Notes, ""); got != "Clusters of other namespaces are only counted: 1 lack Tenancy, 1 lack nothing" {
		t.Errorf("notes %q", got)
	}
}

func TestE1aADifferenceOfRequestsNamesNoClusterOfOthers(t *testing.T) {
	difference := Difference{
		Granted: 7, Before: Totals{Requests: 9}, After: Totals{Requests: 10},
		Requests: []RequestDifference{
			{Namespace: "team-a", Name: "ci", Before: "Denied, NoMatchingProfile", After: "Granted Cluster team-b/theirs"},
			{Namespace: "team-a", Name: "own", Before: "Granted Cluster team-a/own", After: "Granted new Cluster shared/new"},
			{Namespace: "team-a", Name: "unlisted", After: "Granted Cluster team-a/own"}, {Namespace: "team-b", Name: "ci"},
		},
	}
	LimitDifference(&difference, func(name types.NamespacedName) bool { return name.Namespace == "team-a" && name.Name != "unlisted" })

	want := Difference{Limited: true, Requests: []RequestDifference{
		{Namespace: "team-a", Name: "ci", Before: "Denied, NoMatchingProfile", After: "Granted Cluster of another namespace"},
		{Namespace: "team-a", Name: "own", Before: "Granted Cluster team-a/own", After: "Granted new Cluster shared/new"},
	}}
	if diff := cmp.Diff(want, difference); diff != "" {
		t.Errorf("difference (-want +got):\n%s", diff)
	}
}
