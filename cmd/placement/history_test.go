// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/test/expect"
)

// Mistakes on the command line say what to do, before anything is asked.
func TestHistoryMistakes(t *testing.T) {
	for _, tc := range []struct {
		args, want string
	}{
		{"a/p b/q", "the hub is asked about one namespace at a time, and a/p"},
		{"-A a/p", `--all-namespaces shows all objects, so naming "a/p" means nothing`},
		{"-A -n a", "--all-namespaces and --namespace contradict each other"},
		{"-n b a/p", `"a/p" is in namespace a, and --namespace is b`},
		{"a/b/c", `"a/b/c" does not name a placement`},
		{"--since yesterday", `--since: "yesterday" is neither a duration such as 24h or 90m nor a time such as 2026-01-31T12:00:00Z`},
		{"--since -1h", `--since: "-1h" is no time that has passed`},
		{"--since 2999-01-01T00:00:00Z", `--since: "2999-01-01T00:00:00Z" is in the future`},
		{"--cluster=", "--cluster: a ManagedCluster has a name"},
		{"-o html", `--output: unknown format "html"`},
		{"cm/x team-a/p", "name objects as TYPE/NAME, and nothing else in one command"},
		{"--federated-kinds nonsense", "--federated-kinds: "},
		{"--api v7 p", "is no API of placements"},
	} {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), append([]string{"history"}, strings.Fields(tc.args)...), &stdout, &stderr)
		if code != exit.Usage || !strings.Contains(stderr.String(), tc.want) || stdout.Len() > 0 {
			t.Errorf("history %s: code %d, stdout %q, stderr %q", tc.args, code, &stdout, &stderr)
		}
	}
}

// docs/spec/history.md HI1: a line for each row, with the day where it is another one, and the reasons where the table is wide.
func TestHI1HistoryIsPrinted(t *testing.T) {
	now := time.Date(2026, 1, 31, 15, 0, 0, 0, time.UTC)
	list := &movelist.List{More: true, Moves: []history.Move{
		{
			Time: now.Add(-24 * time.Hour), Namespace: "team-a", Group: "placement.open-cluster-management.io", Kind: "Placement", Name: "old",
			Gained: []string{"eu1"}, Derived: true,
		},
		{
			Time: time.Date(2026, 1, 31, 14, 3, 10, 0, time.UTC), Namespace: "team-a", Group: "cluster.open-cluster-management.io", Kind: "Placement",
			Name: "payments", Lost: []string{"eu2"}, Gained: []string{"us2"},
			Reasons: []history.Reason{{Cluster: "eu2", Text: "taint maintenance:NoSelect is not tolerated"}},
			Causes: []history.Cause{{
				Time: time.Date(2026, 1, 31, 14, 3, 9, 0, time.UTC), Kind: "ManagedCluster", Name: "eu2", What: "taint maintenance:NoSelect",
				Action: history.Added, Manager: "kubectl-edit",
			}},
		},
	}}
	list.Now.Time = now
	for output, want := range map[string]string{
		"table": "2026-01-30 15:00:00 team-a/old@placement.open-cluster-management.io gained eu1\n" +
			"14:03:10 team-a/payments lost eu2, gained us2: ManagedCluster eu2 taint maintenance:NoSelect added by kubectl-edit\n" +
			"note: there are earlier rows; name a Placement or a time with --since\n",
		"wide": "2026-01-30 15:00:00 team-a/old@placement.open-cluster-management.io gained eu1\n" +
			"  causes as seen by a standby\n" +
			"14:03:10 team-a/payments lost eu2, gained us2: ManagedCluster eu2 taint maintenance:NoSelect added by kubectl-edit\n" +
			"  eu2: taint maintenance:NoSelect is not tolerated\n" +
			"  14:03:09 ManagedCluster eu2 taint maintenance:NoSelect added by kubectl-edit\n" +
			"note: there are earlier rows; name a Placement or a time with --since\n",
		"name": "team-a/old@placement.open-cluster-management.io\nteam-a/payments\n",
	} {
		var stdout bytes.Buffer
		expect.NoError(t, (&historyOptions{output: output}).show(&stdout, list))
		if stdout.String() != want {
			t.Errorf("%s: got\n%swant\n%s", output, &stdout, want)
		}
	}
	var stdout bytes.Buffer
	expect.NoError(t, (&historyOptions{output: "table"}).show(&stdout, &movelist.List{}))
	if want := "no clusters were gained or lost, as far as the hub remembers\n"; stdout.String() != want {
		t.Errorf("got %q", &stdout)
	}
}

// A row is printed once, whichever process of the hub has answered.
func TestFollowedRowsArePrintedOnce(t *testing.T) {
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	row := func(version string, seconds int) history.Move {
		return history.Move{Time: at.Add(time.Duration(seconds) * time.Second), UID: "u", ResourceVersion: version}
	}
	printed := printedRows{}
	for _, tc := range []struct {
		now  int
		rows []history.Move
		want string
	}{
		{0, []history.Move{row("1", 0)}, "1"},
		{2, []history.Move{row("1", 0), row("2", 1)}, "2"},
		{4, []history.Move{row("1", 1), row("2", 2)}, ""},
		{6, []history.Move{row("2", 1), row("3", 5)}, "3"},
		{100, nil, ""},
	} {
		list := &movelist.List{Moves: tc.rows}
		list.Now.Time = at.Add(time.Duration(tc.now) * time.Second)
		var got []string
		for _, move := range printed.fresh(list).Moves {
			got = append(got, move.ResourceVersion)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("after %d s: %q, want %q", tc.now, got, tc.want)
		}
	}
	if len(printed) > 0 {
		t.Errorf("%d rows are remembered", len(printed))
	}
}
