// SPDX-License-Identifier: Apache-2.0

package movelist

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/history"
)

// docs/spec/history.md HI10: what is not shown of a cause is not in a row, and the rows of the history stay as they are.
func TestHI10CausesAreLimited(t *testing.T) {
	cause := func(name string) history.Cause {
		return history.Cause{Kind: "ManagedCluster", Name: name, Action: history.Added, What: "taint x", Manager: "by-" + name, Operation: "Update"}
	}
	whole := &history.Move{
		Namespace: "a", Name: "p", Lost: []string{"c1"}, Causes: []history.Cause{cause("all"), cause("value"), cause("nothing")},
	}
	former := &history.Move{Namespace: "a", Name: "former"}
	rules := Rules{
		Shown: func(_ context.Context, move *history.Move) (bool, error) { return move.Name == "p", nil },
		Sight: func(_ context.Context, _ string, cause *history.Cause) (Sight, error) {
			return map[string]Sight{"all": All, "value": Value}[cause.Name], nil
		},
	}
	moves, err := Select(t.Context(), []*history.Move{former, whole}, rules)
	if err != nil || len(moves) != 1 {
		t.Fatalf("%d rows, %v", len(moves), err)
	}
	want := "lost c1: ManagedCluster all taint x added by by-all; ManagedCluster value taint x added; " +
		"a change of an object that this user may not read"
	if got := moves[0].Sentence(); got != want || moves[0].Causes[1].Operation != "" {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(whole.Causes) != 3 || whole.Causes[1].Manager != "by-value" || whole.HiddenCauses != 0 {
		t.Errorf("the row of the history is %+v", whole)
	}
	failed := errors.New("no review")
	rules.Sight = func(context.Context, string, *history.Cause) (Sight, error) { return All, failed }
	if moves, err := Select(t.Context(), []*history.Move{whole}, rules); !errors.Is(err, failed) || moves != nil {
		t.Errorf("%d rows are shown without a review, %v", len(moves), err)
	}
}

// A row of an object that is delivered names its kind.
func TestNamesOfRows(t *testing.T) {
	list := List{Derived: true, Moves: []history.Move{
		{Namespace: "a", Group: "apps", Kind: "Deployment", Name: "web"},
		{Namespace: "a", Group: "cluster.open-cluster-management.io", Kind: "Placement", Name: "p"},
	}}
	d := list.Document(document.Options{})
	if got := strings.Join(d.Names, " "); got != "a/web@deployment.apps a/p" {
		t.Errorf("names %s", got)
	}
	if notes := d.Sections[1].Notes; len(notes) != 1 || notes[0] != derivedNote {
		t.Errorf("notes %q", notes)
	}
}
