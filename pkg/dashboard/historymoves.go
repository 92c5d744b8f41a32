// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// movesPart is the part of a page with rows of the history, the latest first.
type movesPart struct {
	Days []movesOfDay
	// Empty says why there are no rows, and Notes what is not shown.
	Empty string
	Notes []string
	// First and To are the numbers of the rows, from 1. Later and Earlier are the pages before and after this one.
	First, To      int
	Later, Earlier string
}

// movesOfDay are the rows of a day in UTC.
type movesOfDay struct {
	Day   string
	Moves []moveRow
}

// moveRow is a row of the history.
type moveRow struct {
	// ID is unique in the page, and stays the same while the page follows changes. Target is that of the causes.
	ID, Target string
	Time       time.Time
	// Name is the object with the decision, Link its page, and History what happened to it.
	Name, Link, History string
	Lost, Gained        []chip
	// Why is the first cause, or the first reason if no cause is known.
	Why     string
	Causes  []causeRow
	Hidden  int
	Reasons []history.Reason
	Derived bool
}

// causeRow is a cause. Undo is the URL of the what-if that undoes the change; it is empty if there is none.
type causeRow struct {
	Time       time.Time
	Text, Undo string
}

// addMoves adds the rows of a page, from a number on.
func (v *visit) addMoves(ctx context.Context, made *page, told *happened, from int) (*page, error) {
	shown := &movesPart{Empty: told.Missing, Notes: told.Notes, First: from + 1, Later: v.laterThan(from)}
	total := len(told.Moves)
	shown.To = min(from+lists.RowsShown, total)
	if shown.To > from {
		rows := told.Moves[total-shown.To : total-from]
		undo, err := v.undoable(ctx, rows)
		if err != nil {
			return nil, err
		}
		for n := range slices.Backward(rows) {
			shown.add(rowOf(&rows[n], undo))
		}
	}
	switch {
	case shown.To < total || told.More && shown.To == total && total > from && shown.To < rowsAnswered:
		shown.Earlier = v.with("from", itoa(shown.To))
	case told.More:
		shown.Notes = append(shown.Notes, "There are earlier rows. Choose a namespace, a Placement, a cluster or a time to see them.")
	}
	if len(shown.Days) == 0 && shown.Empty == "" {
		shown.Empty = "No clusters were gained or lost, as far as the hub remembers."
		if from > 0 {
			shown.Empty = "There are no earlier rows to show."
		}
	}
	if told.Derived {
		shown.Notes = append(shown.Notes, "A standby has answered: the causes of its rows are the changes that it has seen, and it knows no "+
			"reasons of an evaluation.")
	}
	made.add("moves", "moves", shown)
	return made, nil
}

// laterThan returns the page before the one that begins with a row; empty for the first.
func (v *visit) laterThan(from int) string {
	switch {
	case from == 0:
		return ""
	case from <= lists.RowsShown:
		return v.with("from", "")
	default:
		return v.with("from", itoa(from-lists.RowsShown))
	}
}

// add adds a row to its day.
func (p *movesPart) add(row moveRow) {
	day := row.Time.UTC().Format(time.DateOnly)
	if n := len(p.Days); n == 0 || p.Days[n-1].Day != day {
		p.Days = append(p.Days, movesOfDay{Day: day})
	}
	last := &p.Days[len(p.Days)-1]
	last.Moves = append(last.Moves, row)
}

// rowOf returns the row of a Move.
func rowOf(move *history.Move, undo undoable) moveRow {
	row := moveRow{
		ID: moveID(move), Target: causesID(move), Time: move.Time, Name: movelist.NameOf(move), Link: objectLink(move), History: historyLink(move),
		Lost: movedChips(move.Lost, document.Bad), Gained: movedChips(move.Gained, document.Good), Hidden: move.HiddenCauses,
		Reasons: move.Reasons, Derived: move.Derived,
	}
	for i := range move.Causes {
		cause := &move.Causes[i]
		row.Causes = append(row.Causes, causeRow{Time: cause.Time, Text: document.OneLine(cause.Sentence()), Undo: undo.link(cause)})
	}
	switch {
	case len(row.Causes) > 0:
		row.Why = row.Causes[0].Text + moreCauses(len(row.Causes)+row.Hidden-1)
	case row.Hidden > 0:
		row.Why = row.HiddenText()
	case len(row.Reasons) > 0:
		row.Why = row.Reasons[0].Cluster + ": " + document.OneLine(row.Reasons[0].Text)
	}
	return row
}

func moreCauses(more int) string {
	if more == 0 {
		return ""
	}
	return ", and " + document.Count(more, "other change")
}

// HiddenText counts the causes that the user may not read.
func (r *moveRow) HiddenText() string { return history.HiddenText(r.Hidden) }

// movedChips returns the first clusters of a row as chips.
func movedChips(clusters []string, tone document.Tone) []chip {
	chips := make([]chip, 0, min(len(clusters), namedInRow)+1)
	for _, cluster := range clusters[:min(len(clusters), namedInRow)] {
		chips = append(chips, chip{Text: cluster, Tone: tone})
	}
	if more := moreThan(len(clusters), namedInRow); more != "" {
		chips = append(chips, chip{Text: more})
	}
	return chips
}

// moveID returns a name of a row that is the same on every replica, as long as the row is kept.
func moveID(move *history.Move) string {
	return "move-" + hashOf([]byte(strings.Join([]string{
		move.Group, move.Kind, move.Namespace, move.Name, move.UID, move.ResourceVersion, move.Time.UTC().Format(time.RFC3339),
	}, "\x00")))
}

// causesID returns the name of the causes of a row. A browser opens what is around them when it goes there.
func causesID(move *history.Move) string { return moveID(move) + "-why" }

// objectLink returns the page of the object of a row.
func objectLink(move *history.Move) string { return objectOf(move).link() }

// historyLink returns the page of what happened to the object of a row.
func historyLink(move *history.Move) string { return objectOf(move).link(historyPath) }

// moved is the object of a row by the elements of its path.
type moved struct {
	elements []string
	api      string
}

func objectOf(move *history.Move) moved {
	for _, adapter := range api.Adapters() {
		if kind := adapter.Kind(); kind.Group != move.Group || kind.Kind != move.Kind {
			continue
		}
		of := moved{elements: []string{placementsPath, move.Namespace, move.Name}}
		if adapter != api.V1beta1 {
			of.api = string(adapter.Name())
		}
		return of
	}
	if move.Group == requestKind.Group && move.Kind == requestKind.Kind {
		return moved{elements: []string{requestsPath, move.Namespace, move.Name}}
	}
	kind := move.Kind
	if move.Group != "" {
		kind += "." + move.Group
	}
	return moved{elements: []string{objectsPath, move.Namespace, kind, move.Name}}
}

func (m moved) link(last ...string) string {
	return link(append(slices.Clip(m.elements), last...), "api", m.api)
}

// undoable are the clusters of the causes that a what-if can undo, as they are.
type undoable map[string]*clusterv1.ManagedCluster

// undoable returns the clusters of causes; none for a caller who may not list clusters, whom their pages refuse.
func (v *visit) undoable(ctx context.Context, moves []history.Move) (undoable, error) {
	named := undoable{}
	for i := range moves {
		for j := range moves[i].Causes {
			if field, _ := inverseOf(&moves[i].Causes[j]); field != "" {
				named[moves[i].Causes[j].Name] = nil
			}
		}
	}
	if len(named) == 0 {
		return named, nil
	}
	err := eachObject(ctx, v.reader(), []string{metav1.NamespaceAll}, &clusterv1.ManagedClusterList{}, func(object runtime.Object) error {
		if cluster, is := object.(*clusterv1.ManagedCluster); is {
			if _, asked := named[cluster.Name]; asked {
				named[cluster.Name] = cluster
			}
		}
		return nil
	})
	return named, tolerated(err)
}

// link returns the what-if of the page of the cluster that undoes a cause; empty if there is none, or if the cluster is not as the change left it.
func (u undoable) link(cause *history.Cause) string {
	field, value := inverseOf(cause)
	cluster := u[cause.Name]
	if field == "" || cluster == nil {
		return ""
	}
	now, has := valueOf(cluster, cause.Field)
	if has == (cause.Action == history.Removed) || has && now != cause.New && len(cause.New) <= longestKept {
		return ""
	}
	return link([]string{clustersPath, cause.Name}, field, value) + "#whatif"
}

// The beginnings of the fields of a cluster that a what-if changes.
const (
	taintPath = "spec.taints["
	labelPath = "metadata.labels["
	claimPath = "status.clusterClaims["
)

// valueOf returns the value of a field of a cluster, and whether it has the field.
func valueOf(cluster *clusterv1.ManagedCluster, field string) (value string, has bool) {
	kind, key, _ := strings.Cut(strings.TrimSuffix(field, "]"), "[")
	switch kind + "[" {
	case labelPath:
		value, has = cluster.Labels[key]
	case claimPath:
		value, has = claimsOf(cluster)[key]
	case taintPath:
		for _, taint := range cluster.Spec.Taints {
			if taint.Key+":"+string(taint.Effect) == key {
				return taint.Value, true
			}
		}
	}
	return value, has
}

// longestKept is the length of values that rows have in full (docs/spec/history.md HI2).
const longestKept = 199

// inverseOf returns the field of the what-if of a cluster, with the value that undoes a cause; empty if there is none.
func inverseOf(cause *history.Cause) (field, value string) {
	if cause.Kind != itemCluster || cause.Group != clusterv1.GroupName || len(cause.Old) > longestKept || strings.TrimSpace(cause.Old) != cause.Old {
		return "", ""
	}
	for _, each := range []struct{ path, field string }{
		{taintPath, taintField}, {labelPath, labelField}, {claimPath, claimField},
	} {
		key, of := strings.CutPrefix(cause.Field, each.path)
		if !of {
			continue
		}
		key = strings.TrimSuffix(key, "]")
		switch {
		case strings.Contains(key, "="):
			return "", ""
		case cause.Action == history.Added:
			return each.field, key + "-"
		case each.field != taintField:
			return each.field, key + "=" + cause.Old
		case cause.Old == "":
			return each.field, key
		default:
			key, effect, _ := strings.Cut(key, ":")
			return each.field, key + "=" + cause.Old + ":" + effect
		}
	}
	return "", ""
}

// moveLine is a row of the history in a sentence.
type moveLine struct {
	Time time.Time `json:"time"`
	Name string    `json:"name"`
	Text string    `json:"text"`
	Link string    `json:"-"`
}

// lineOf returns the sentence of a row.
func lineOf(move *history.Move) moveLine {
	return moveLine{
		Time: move.Time, Name: movelist.NameOf(move), Text: document.OneLine(move.Sentence()), Link: historyLink(move) + "#" + causesID(move),
	}
}
