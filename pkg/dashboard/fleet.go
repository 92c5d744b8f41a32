// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/dashboard/picture"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// The parameters of the picture of a fleet, and the ways in which its cells are coloured.
const (
	groupBy       = "by"
	colourBy      = "colour"
	colourVerdict = "verdict"
	colourState   = "state"
	colourLoad    = "load"
)

// regionKeys are the labels and claims by which clusters are grouped unless the URL names one: the first that a cluster has.
var regionKeys = []string{"region", "topology.kubernetes.io/region", "region.open-cluster-management.io"}

// keysOffered bounds the labels among which one chooses.
const keysOffered = 100

// fleetPicture is the part of a page with the picture.
type fleetPicture struct {
	Action string
	By     string
	Keys   []string
	// Colours are the ways to colour the cells.
	Colours []lists.Option
	Groups  []picture.Group
	Total   []picture.Class
	Count   int
	// Note says why the picture is not whole; empty for nothing. Named says that its cells have the names of the clusters.
	Note  string
	Named bool
	// links lead to the clusters of a group.
	links func(group string) string
}

// Link returns the list of the clusters of a group; empty if there is none.
func (f *fleetPicture) Link(group picture.Group) string {
	if group.None || group.Other > 0 || f.links == nil {
		return ""
	}
	return f.links(group.Name)
}

// fleetPage shows all clusters, coloured by their availability or by how many decisions they are in.
func fleetPage(ctx context.Context, v *visit) (*page, error) {
	seen, err := clusters(ctx, v.reader(), &setIndex{})
	if err != nil {
		return nil, err
	}
	shown := newPicture(v, seen, colourState, colourLoad)
	states := func(o *item) picture.Class {
		return picture.Class{Name: o.State, Style: toneClass(o.Tone), Order: lists.Severity(o.Tone)}
	}
	if v.query(colourBy) == colourLoad {
		if states, err = v.loads(ctx); err != nil {
			return nil, err
		}
	}
	shown.draw(seen, states, func(o *item) (reason, page string) { return o.Message, o.Link })
	made := &page{
		Title: "Fleet", Section: clustersSection, JSON: shown.jsonValues(), Crumbs: []crumb{{Text: clustersSection, Link: "/clusters"}},
		Commands: []string{"kubectl get managedclusters"},
	}
	made.add("picture", "picture", shown)
	return made, nil
}

// placementFleetPage shows what a Placement makes of each cluster, and the way from its namespace to them.
func placementFleetPage(ctx context.Context, v *visit) (*page, error) {
	asked, err := placementOf(v)
	if err != nil {
		return nil, err
	}
	verdicts, named, err := v.verdictsOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	sets, err := v.readSets(ctx, []string{asked.namespace})
	if err != nil {
		return nil, err
	}
	seen, err := clusters(ctx, v.reader(), sets)
	note := ""
	if apierrors.IsForbidden(err) { // The answer names the clusters in the scope of the namespace.
		seen, note = nil, "You may not list clusters: the picture has those in the scope of the namespace, without their labels."
		for name, said := range verdicts {
			seen = append(seen, item{Kind: itemCluster, Name: name, Sets: said.sets})
		}
		lists.Sort(seen)
	} else if err != nil {
		return nil, err
	}
	shown := newPicture(v, seen, colourVerdict, colourLoad)
	shown.Note = note
	classes := func(o *item) picture.Class { return verdictClass(verdicts[o.Name].verdict) }
	way := wayOf(asked, sets, named, seen, verdicts, note == "")
	if v.query(colourBy) == colourLoad {
		if classes, err = v.loads(ctx); err != nil {
			return nil, err
		}
	}
	base := detailLink(asked.path())
	shown.draw(seen, classes, func(o *item) (reason, page string) { return verdicts[o.Name].reason, inDetail(base, o.Name) })
	made := &page{
		Title: "Fleet of " + asked.argument(), Section: placementsSection,
		JSON:     map[string]any{"picture": shown.jsonValues(), "way": way},
		Crumbs:   append(crumbsOf(placementsSection, placementsPath, asked.namespace), crumb{Text: asked.name, Link: asked.path()}),
		Commands: asked.commands()[:1],
	}
	made.add("way", "way", way)
	made.add("picture", "picture", shown)
	return made, nil
}

// clusterResult is what a Placement makes of a cluster. reason and sets, those of the cluster, are empty in a fleet whose cells have no names.
type clusterResult struct {
	verdict, reason string
	sets            []string
}

// verdictsOf returns the verdicts of the clusters in the scope of a Placement, and the sets that it names; none for a caller who may not get it.
func (v *visit) verdictsOf(ctx context.Context, asked named) (verdicts map[string]clusterResult, sets []string, err error) {
	take := func(report *explain.Report) []explain.ClusterReport {
		verdicts = make(map[string]clusterResult, len(report.Clusters))
		for i := range report.Clusters {
			cluster := &report.Clusters[i]
			verdicts[cluster.Name] = clusterResult{verdict: verdictOf(cluster.Verdict), reason: cluster.Reason}
		}
		if len(report.Clusters) > picture.NamesShown {
			return nil
		}
		return report.Clusters
	}
	found, err := v.hub.Explain(ctx, v.caller, Question{Question: asked.question(endpoint.CommandExplain), Rows: take})
	if answered, is := errors.AsType[*endpoint.AnswerError](err); is && found == nil {
		return nil, nil, answered
	}
	if err != nil {
		return nil, nil, err
	}
	explanation, err := explanationIn(found)
	if err != nil {
		return nil, nil, err
	}
	if verdicts == nil { // The hub that has answered explains no stages.
		take(&explanation.Report)
	}
	for i := range explanation.Rows {
		row := &explanation.Rows[i]
		said := clusterResult{verdict: verdicts[row.Cluster].verdict, reason: row.Reason}
		for _, set := range row.Sets {
			if set.Contains {
				said.sets = append(said.sets, set.Name)
			}
		}
		verdicts[row.Cluster] = said
	}
	object := asked.adapter.Empty()
	if err := v.reader().Get(ctx, client.ObjectKey{Namespace: asked.namespace, Name: asked.name}, object); err != nil {
		return verdicts, nil, tolerated(err)
	}
	return verdicts, api.Read(object).ClusterSets, nil
}

// tolerated returns nil for an error about an object that the caller may not get, or that is gone.
func tolerated(err error) error {
	if apierrors.IsForbidden(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}

// verdictClass returns the class of a verdict; none means that the cluster is out of the scope.
func verdictClass(verdict string) picture.Class {
	verdict = cmp.Or(verdict, scheduling.StageScope.String())
	order := slices.Index(verdictOrder, verdict)
	if order < 0 {
		order = len(verdictOrder)
	}
	return picture.Class{Name: verdict, Style: toneClass(document.VerdictTone(verdict)) + " v" + strconv.Itoa(order), Order: order}
}

// verdictOrder is the order of the verdicts in a picture, each of which has a colour in the style sheet.
var verdictOrder = []string{
	scheduling.StageSelected.String(), document.VerdictHeld, scheduling.StageRank.String(), scheduling.StageSpread.String(),
	scheduling.StageAntiAffinity.String(), scheduling.StageTaint.String(), scheduling.StagePredicate.String(), scheduling.StageTerminating.String(),
	scheduling.StageScope.String(),
}

// loads returns the classes of clusters by the number of decisions in which they are, of those that the caller may list.
func (v *visit) loads(ctx context.Context) (func(o *item) picture.Class, error) {
	namespaces, err := v.namespacesShown(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, adapter := range api.Adapters() {
		codec := adapter.Codec()
		err := eachObject(ctx, v.reader(), namespaces, codec.EmptyList(), func(object runtime.Object) error {
			if page := codec.Read(object); page != nil {
				for _, each := range page.Decisions {
					counts[each.Cluster]++
				}
			}
			return nil
		})
		if err != nil && !apierrors.IsForbidden(err) && !meta.IsNoMatchError(err) {
			return nil, err
		}
	}
	most := 0
	for _, count := range counts {
		most = max(most, count)
	}
	return func(o *item) picture.Class { return loadClass(counts[o.Name], most) }, nil
}

// loadSteps is the number of colours for loads.
const loadSteps = 4

// loadClass returns the class of a number of decisions, of which the most in the fleet is known.
func loadClass(count, most int) picture.Class {
	if count == 0 {
		return picture.Class{Name: "no decision", Style: "load0"}
	}
	step := (count*loadSteps + most - 1) / most
	from, to := (step-1)*most/loadSteps+1, step*most/loadSteps
	name := itoa(from) + "–" + itoa(to) + " decisions"
	if from >= to {
		name = document.Count(count, "decision")
	}
	return picture.Class{Name: name, Style: "load" + strconv.Itoa(step), Order: loadSteps + 1 - step}
}

// newPicture returns the form of a picture, with the values of the URL.
func newPicture(v *visit, seen []item, colours ...string) *fleetPicture {
	keys := map[string]int{}
	for i := range seen {
		for _, values := range []map[string]string{seen[i].Labels, seen[i].Claims} {
			for key := range values {
				keys[key]++
			}
		}
	}
	shown := &fleetPicture{Action: v.request.URL.EscapedPath(), By: v.query(groupBy), Count: len(seen)}
	for key := range keys {
		shown.Keys = append(shown.Keys, key)
	}
	slices.SortFunc(shown.Keys, func(a, b string) int { return cmp.Or(cmp.Compare(keys[b], keys[a]), cmp.Compare(a, b)) })
	shown.Keys = shown.Keys[:min(len(shown.Keys), keysOffered)]
	if shown.By == "" {
		at := slices.IndexFunc(regionKeys, func(key string) bool { return keys[key] > 0 })
		shown.By = regionKeys[max(at, 0)]
	}
	words := map[string]string{
		colourVerdict: "verdict for this Placement", colourState: "availability", colourLoad: "load: decisions that you may list",
	}
	for _, colour := range colours {
		shown.Colours = append(shown.Colours, lists.Option{Value: colour, Text: words[colour], Selected: colour == v.query(colourBy)})
	}
	if keys[shown.By] > 0 {
		shown.links = func(group string) string {
			return "/clusters?" + url.Values{lists.ByLabel: {shown.By + "=" + group}}.Encode()
		}
	}
	return shown
}

// draw draws the clusters. about returns why a cluster has its class, and the page that says more.
func (f *fleetPicture) draw(seen []item, classes func(o *item) picture.Class, about func(o *item) (reason, page string)) {
	cells := make([]picture.Cell, 0, len(seen))
	for i := range seen {
		value, has := seen[i].Labels[f.By]
		if !has {
			value = seen[i].Claims[f.By]
		}
		cell := picture.Cell{Group: value, Class: classes(&seen[i])}
		cell.Title = seen[i].Name + ": " + cell.Class.Name
		reason, page := about(&seen[i])
		if cell.Link = page; reason != "" {
			cell.Title += ", " + causeOf(reason)
		}
		cells = append(cells, cell)
	}
	f.Named = picture.HasNames(cells)
	f.Groups = picture.Draw(cells)
	f.Total = picture.Total(f.Groups)
}

// jsonValues returns the picture as values that are encoded as JSON.
func (f *fleetPicture) jsonValues() map[string]any {
	type class struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	}
	type group struct {
		Value   string  `json:"value"`
		Count   int     `json:"count"`
		Classes []class `json:"classes"`
	}
	groups := make([]group, 0, len(f.Groups))
	for _, each := range f.Groups {
		told := group{Value: each.Name, Count: each.Count}
		for _, one := range each.Classes {
			told.Classes = append(told.Classes, class{one.Name, one.Count})
		}
		groups = append(groups, told)
	}
	return map[string]any{"by": f.By, "groups": groups}
}

// way is the way of a decision: from a namespace by its bindings and their sets to clusters.
type way struct {
	Namespace string    `json:"namespace"`
	Placement string    `json:"placement"`
	Steps     []wayStep `json:"bindings"`
	// Unread says which part is not shown, because the caller may not list it.
	Unread []string `json:"unread,omitempty"`
}

// wayStep is a binding, its set, and what becomes of the clusters of the set.
type wayStep struct {
	Set string `json:"set"`
	By  string `json:"by,omitempty"`
	// Asked says that the Placement uses the set; Problem why it has no clusters.
	Asked   bool   `json:"asked"`
	Problem string `json:"problem,omitempty"`
	// Classes count the clusters of the set by their verdict. Known says that they are known, and Bound that the set is bound.
	Classes []picture.Class `json:"-"`
	Count   int             `json:"clusters"`
	Known   bool            `json:"-"`
	Bound   bool            `json:"-"`
	// Link is the list of the clusters of the set; empty for a caller who may not list them.
	Link string `json:"-"`
}

// Reached are the steps to the sets that the Placement uses.
func (w way) Reached() []wayStep {
	return slices.DeleteFunc(slices.Clone(w.Steps), func(step wayStep) bool { return step.Bound && !step.Asked })
}

// Others are the first bound sets that the Placement does not use.
func (w way) Others() []string {
	var others []string
	for _, step := range w.Steps {
		if step.Bound && !step.Asked {
			others = append(others, step.Set)
		}
	}
	if more := len(others) - othersShown; more > 0 {
		others = append(others[:othersShown], itoa(more)+" more")
	}
	return others
}

// othersShown bounds the bound sets that a Placement does not use on its page.
const othersShown = 20

// wayOf returns the way of the decisions of a Placement, which names sets or uses all that are bound. listed says that the caller may list clusters.
// Other callers know the clusters in scope, with their sets if the hub has explained each.
func wayOf(asked named, sets *setIndex, names []string, seen []item, verdicts map[string]clusterResult, listed bool) way {
	known := listed || slices.ContainsFunc(seen, func(each item) bool { return len(each.Sets) > 0 })
	shown := way{Namespace: asked.namespace, Placement: asked.name, Unread: sets.Unread, Steps: []wayStep{}}
	bound := slices.Clone(sets.bound[asked.namespace])
	slices.Sort(bound)
	for _, set := range bound {
		step := wayStep{Set: set, Asked: len(names) == 0 || slices.Contains(names, set), Known: known, Bound: true}
		if listed {
			step.Link = setLink(set)
		}
		if at, has := sets.find(set); has {
			step.By, step.Problem = sets.sets[at].By, sets.sets[at].Problem
		}
		var cells []picture.Cell
		for i := range seen {
			if slices.Contains(seen[i].Sets, set) {
				cells = append(cells, picture.Cell{Class: verdictClass(verdicts[seen[i].Name].verdict)})
			}
		}
		step.Count, step.Classes = len(cells), picture.Total(picture.Draw(cells))
		shown.Steps = append(shown.Steps, step)
	}
	slices.SortStableFunc(shown.Steps, func(a, b wayStep) int { return boolRank(a.Asked) - boolRank(b.Asked) })
	for _, name := range names {
		if !slices.Contains(bound, name) {
			shown.Steps = append(shown.Steps, wayStep{Set: name, Problem: "the set is not bound to the namespace"})
		}
	}
	return shown
}
