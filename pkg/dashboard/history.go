// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/dashboard/timeline"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/history"
)

// historySection is the page with what happened to decisions, and historyPath the last element of the paths of such pages.
const (
	historySection = "History"
	historyPath    = "history"
)

const (
	// historySettles is how long after a change the pages of the history are made again. A row is there when nothing has been written for a while
	// (docs/spec/history.md HI1), and the hub is not asked more often than that.
	historySettles = 3 * time.Second
	// rowsAnswered is the number of rows that a hub answers at most (docs/spec/history.md HI2).
	rowsAnswered = 1000
	// clustersAsked bounds the clusters of a question, and namespacesAsked the namespaces of a page, each of which is a question.
	clustersAsked   = 20
	namespacesAsked = 20
	// linesShown bounds the lines of a timeline.
	linesShown = 50
)

// The parameters of the pages of the history.
const (
	byCluster = "cluster"
	bySince   = "since"
)

// isHistory reports whether a URL is that of a page of the history. An object may have the name history.
func isHistory(page *url.URL) bool {
	elements := strings.Split(strings.TrimPrefix(page.EscapedPath(), "/"), "/")
	depth := map[string]int{historyPath: 1, clustersPath: 3, placementsPath: 4, requestsPath: 4, objectsPath: 5}[elements[0]]
	return len(elements) == depth && elements[depth-1] == historyPath
}

// happened is what a page shows of the history: the answers of the hub. It is its JSON, too.
type happened struct {
	movelist.List

	// Missing says why there are no rows; empty for nothing.
	Missing string `json:"missing,omitempty"`
	// Notes say what else is not shown.
	Notes []string `json:"notes,omitempty"`
}

// historyFilter is what the URL of a page asks for, with the form that has it.
type historyFilter struct {
	Path   string
	Fields []lists.Field
	// Clear is the page without filters; empty while there are none.
	Clear string

	clusters []string
	since    *metav1.Time
	flags    string // of the command
	mistaken bool
}

// Cause is none: the form of lists has one.
func (*historyFilter) Cause() string { return "" }

// newHistoryFilter returns the filter of the URL by the parameters that the page has.
func newHistoryFilter(v *visit, parameters ...string) *historyFilter {
	f := &historyFilter{Path: v.request.URL.EscapedPath()}
	for _, parameter := range parameters {
		field := lists.Field{Name: parameter, Value: strings.TrimSpace(v.query(parameter))}
		switch parameter {
		case lists.ByNamespace:
			field.Label, field.Placeholder = "Namespace", "all that you may read"
		case byCluster:
			field.Label, field.Placeholder = "Cluster", "several are separated by commas"
			f.readClusters(&field)
		case bySince:
			field.Label, field.Placeholder = "Since", "24h, or 2026-01-31T12:00:00Z"
			f.readSince(&field, v.now)
		}
		if field.Value != "" {
			f.Clear = f.Path
		}
		f.mistaken = f.mistaken || field.Problem != ""
		f.Fields = append(f.Fields, field)
	}
	return f
}

func (f *historyFilter) readClusters(field *lists.Field) {
	for name := range strings.SplitSeq(field.Value, ",") {
		if name = strings.TrimSpace(name); name != "" {
			f.clusters = append(f.clusters, name)
			f.flags += " --cluster " + name
		}
	}
	if len(f.clusters) > clustersAsked {
		field.Problem = "Name at most " + itoa(clustersAsked) + " clusters."
	}
}

func (f *historyFilter) readSince(field *lists.Field, now time.Time) {
	if field.Value == "" {
		return
	}
	since, err := movelist.ParseSince(field.Value, now)
	if err != nil {
		field.Problem = err.Error()
		return
	}
	f.since, f.flags = &metav1.Time{Time: since}, f.flags+" --since "+field.Value
}

// question returns a question about the rows of the filter.
func (f *historyFilter) question() endpoint.Question {
	return endpoint.Question{Command: endpoint.CommandHistory, Clusters: f.clusters, Since: f.since, Output: jsonOutput}
}

// historyPage shows what happened to the decisions that the caller may read, the latest first.
func historyPage(ctx context.Context, v *visit) (*page, error) {
	filter, from := newHistoryFilter(v, lists.ByNamespace, byCluster, bySince), v.number("from", rowsAnswered, 0)
	question := filter.question()
	if !wantsJSON(v.request) { // JSON has all rows.
		question.Limit = from + lists.RowsShown
	}
	told, err := filter.answer(func() (*happened, error) { return v.everywhereHappened(ctx, question) })
	if err != nil {
		return nil, err
	}
	made := newHistoryPage(historySection, historySection, filter, told)
	made.Commands = v.commandsOf("placement history" + filter.flags)
	return v.addMoves(ctx, made, told, from)
}

// answer returns the answer of the hub, which is not asked if the filter has a mistake.
func (f *historyFilter) answer(ask func() (*happened, error)) (*happened, error) {
	if f.mistaken {
		return &happened{List: movelist.List{Moves: []history.Move{}}, Missing: "Correct the filters."}, nil
	}
	return ask()
}

// newHistoryPage returns a page with the form of its filters.
func newHistoryPage(title, section string, filter *historyFilter, told *happened) *page {
	made := &page{Title: title, Section: section, JSON: told, Settle: historySettles}
	if filter.mistaken {
		made.Code, made.JSON = http.StatusBadRequest, map[string]string{"error": told.Missing}
	}
	made.add("filters", "filters", filter)
	return made
}

// placementHistoryPage shows when clusters were in the decisions of a Placement.
func placementHistoryPage(ctx context.Context, v *visit) (*page, error) {
	asked, err := placementOf(v)
	if err != nil {
		return nil, err
	}
	return v.historyOf(ctx, &subject{
		question: asked.question(endpoint.CommandHistory), title: asked.argument(), section: placementsSection, page: asked.path(),
		crumbs:  append(crumbsOf(placementsSection, placementsPath, asked.namespace), crumb{Text: asked.name, Link: asked.path()}),
		command: "placement history " + asked.argument(),
	})
}

// objectHistoryPage shows when clusters had the ManifestWork of a delivered object.
func objectHistoryPage(ctx context.Context, v *visit) (*page, error) {
	kind := schema.ParseGroupKind(v.request.PathValue("kind"))
	if !slices.ContainsFunc(deliveredKinds(v), func(known schema.GroupVersionKind) bool { return known.GroupKind() == kind }) {
		return nil, errNoKind
	}
	namespace, name := v.request.PathValue("namespace"), v.request.PathValue("name")
	path := link([]string{objectsPath, namespace, kind.String(), name})
	return v.historyOf(ctx, &subject{
		question: questionAbout(kind, namespace, name), title: kind.Kind + " " + namespace + "/" + name, section: objectsSection, page: path,
		crumbs:  append(crumbsOf(objectsSection, objectsPath, namespace), crumb{Text: name, Link: path}),
		command: "placement history " + strings.ToLower(kind.String()) + "/" + name + " -n " + namespace,
	})
}

// requestHistoryPage shows which Cluster the grant of a ClusterRequest named.
func requestHistoryPage(ctx context.Context, v *visit) (*page, error) {
	namespace, name := v.request.PathValue("namespace"), v.request.PathValue("name")
	path := link([]string{requestsPath, namespace, name})
	return v.historyOf(ctx, &subject{
		question: questionAbout(requestKind.GroupKind(), namespace, name), title: requestKind.Kind + " " + namespace + "/" + name,
		section: requestsSection, page: path, crumbs: append(crumbsOf(requestsSection, requestsPath, namespace), crumb{Text: name, Link: path}),
		command: "placement history clusterrequest/" + name + " -n " + namespace,
	})
}

// questionAbout returns the question about what happened to an object.
func questionAbout(kind schema.GroupKind, namespace, name string) endpoint.Question {
	return endpoint.Question{
		Command: endpoint.CommandHistory, Namespace: namespace, Output: jsonOutput,
		Objects: []endpoint.Object{{Group: kind.Group, Kind: kind.Kind, Name: name}},
	}
}

// subject is an object with decisions.
type subject struct {
	question                      endpoint.Question
	title, section, page, command string
	crumbs                        []crumb
}

// historyOf shows what happened to one object.
func (v *visit) historyOf(ctx context.Context, of *subject) (*page, error) {
	filter := newHistoryFilter(v, byCluster, bySince)
	question := of.question
	question.Clusters, question.Since = filter.clusters, filter.since
	told, err := filter.answer(func() (*happened, error) { return v.askHistory(ctx, question) })
	if err != nil {
		return nil, err
	}
	made := newHistoryPage("History of "+of.title, of.section, filter, told)
	made.Crumbs, made.Commands = of.crumbs, []string{of.command + filter.flags}
	base := detailLink(of.page)
	lines := linesOf(told.Moves, func(_ *history.Move, cluster string) (name, link string) {
		if len(filter.clusters) > 0 && !slices.Contains(filter.clusters, cluster) {
			return "", ""
		}
		if of.section == requestsSection { // It is a Cluster of openMCP, which has no page.
			return cluster, of.page
		}
		return cluster, inDetail(base, cluster)
	})
	made.add("timeline", "timeline", timelineOf("Cluster", lines, v.now, "Clusters that were neither gained nor lost are not shown."))
	return v.addMoves(ctx, made, told, v.number("from", rowsAnswered, 0))
}

// clusterHistoryPage shows when a cluster was in the decisions that the caller may read. It is the same whether the cluster exists or not.
func clusterHistoryPage(ctx context.Context, v *visit) (*page, error) {
	cluster := v.request.PathValue("name")
	filter := newHistoryFilter(v, lists.ByNamespace, bySince)
	question := filter.question()
	question.Clusters = []string{cluster}
	told, err := filter.answer(func() (*happened, error) { return v.everywhereHappened(ctx, question) })
	if err != nil {
		return nil, err
	}
	made := newHistoryPage("History of "+cluster, clustersSection, filter, told)
	made.Crumbs = []crumb{
		{Text: clustersSection, Link: link([]string{clustersPath})}, {Text: cluster, Link: link([]string{clustersPath, cluster})},
	}
	made.Commands = v.commandsOf("placement history --cluster " + cluster + filter.flags)
	lines := linesOf(told.Moves, func(move *history.Move, moved string) (name, link string) {
		if moved != cluster {
			return "", ""
		}
		return movelist.NameOf(move), historyLink(move)
	})
	made.add("timeline", "timeline", timelineOf("Placement or object", lines, v.now, "Decisions that it has neither joined nor left are not shown."))
	return v.addMoves(ctx, made, told, v.number("from", rowsAnswered, 0))
}

// drawing is the part of a page with a timeline.
type drawing struct {
	timeline.Timeline

	// Head names what the lines are, and Note says what is not shown.
	Head, Note string
	More       int
}

// timelineOf returns the timeline of lines.
func timelineOf(head string, lines []timeline.Line, now time.Time, note string) *drawing {
	drawn := &drawing{Timeline: timeline.Draw(lines, now), Head: head, Note: note}
	if len(drawn.Lines) > linesShown {
		drawn.More, drawn.Lines = len(drawn.Lines)-linesShown, drawn.Lines[:linesShown]
	}
	return drawn
}

// linesOf returns the lines of rows, which are oldest first. line returns the name of the line of a cluster, which is empty for none, and its link.
func linesOf(moves []history.Move, line func(move *history.Move, cluster string) (name, link string)) []timeline.Line {
	at, lines := map[string]int{}, []timeline.Line(nil)
	for i := range moves {
		move := &moves[i]
		for _, side := range []struct {
			clusters []string
			joined   bool
		}{{move.Lost, false}, {move.Gained, true}} {
			for _, cluster := range side.clusters {
				name, link := line(move, cluster)
				if name == "" {
					continue
				}
				n, known := at[name]
				if !known {
					n = len(lines)
					at[name], lines = n, append(lines, timeline.Line{Name: name, Link: link})
				}
				lines[n].Events = append(lines[n].Events, timeline.Event{At: move.Time, Joined: side.joined, Link: "#" + causesID(move)})
			}
		}
	}
	return lines
}

// byTime orders rows by their times; those of several answers are merged.
func byTime(a, b history.Move) int {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
