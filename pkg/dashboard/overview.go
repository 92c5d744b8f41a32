// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
)

const (
	// rowsShown bounds the rows of a table, attentionShown the objects that need attention, and setsShown the sets of the overview.
	rowsShown      = 200
	attentionShown = 100
	setsShown      = 25
	// found bounds the names of a search.
	found = 50
)

// overviewPage is the JSON of the overview.
type overviewPage struct {
	Namespace string `json:"namespace,omitempty"`
	// Causes say why objects need attention, one for all that have it in common. CausesMore counts those for which there is no room.
	Causes     []sharedCause `json:"causes"`
	CausesMore int           `json:"causesMore,omitempty"`
	// Attention are the first of these objects, and AttentionMore counts the others.
	Attention     []item        `json:"attention"`
	AttentionMore int           `json:"attentionMore,omitempty"`
	Placements    []lists.Count `json:"placements"`
	Clusters      []lists.Count `json:"clusters"`
	Sets          []clusterSet  `json:"sets"`
	Requests      []lists.Count `json:"requests"`
	// Last are the last rows of the history; none where the hub keeps none. Unknown says why they could not be read.
	Last    []moveLine `json:"lastMoves,omitempty"`
	Unknown string     `json:"-"`
	// Unread says what is missing because the caller may not read it.
	Unread []string `json:"unread,omitempty"`
	// Deliveries has the failed ones, which are in Causes.
	Deliveries *deliveries `json:"-"`

	// Where names the namespaces in which Placements were looked for, and Elsewhere says how to see others; empty for all.
	Where     string `json:"-"`
	Elsewhere string `json:"-"`

	everywhere bool
}

// Shown are the first sets, and SetsMore counts the others.
func (o *overviewPage) Shown() []clusterSet { return o.Sets[:min(len(o.Sets), setsShown)] }

// BindingsRead says that the caller may list the bindings of all namespaces.
func (o *overviewPage) BindingsRead() bool {
	return o.everywhere && !slices.Contains(o.Unread, bindingsResource)
}

// PlacementsRead says that the caller may list all Placements that the page is about.
func (o *overviewPage) PlacementsRead() bool {
	return o.everywhere && !slices.Contains(o.Unread, placementsPath)
}

// Hidden says that there may be objects that need attention and that the caller may not read.
func (o *overviewPage) Hidden() bool { return !o.everywhere || len(o.Unread) > 0 }

// SetsMore counts the sets that are not among those of Shown.
func (o *overviewPage) SetsMore() int { return len(o.Sets) - len(o.Shown()) }

// SetsLink is the list of all sets.
func (o *overviewPage) SetsLink() string {
	return link([]string{setsPath}, lists.ByNamespace, o.Namespace)
}

// HistoryLink is the page with all of the history.
func (o *overviewPage) HistoryLink() string {
	return link([]string{historyPath}, lists.ByNamespace, o.Namespace)
}

// overview shows what there is, and what needs attention.
func overview(ctx context.Context, v *visit) (*page, error) {
	namespaces, err := v.namespacesShown(ctx)
	if err != nil {
		return nil, err
	}
	reader, shown := v.reader(), &overviewPage{Namespace: v.namespace()}
	listed, unlisted := placements(ctx, reader, namespaces, "")
	if err := shown.tolerate(placementsPath, unlisted); err != nil {
		return nil, err
	}
	shown.Where, shown.Elsewhere = v.where(), v.elsewhere()
	sets, err := v.readSets(ctx, namespaces)
	if err != nil {
		return nil, err
	}
	seen, err := clusters(ctx, reader, sets)
	// A user who may read nothing gets a page without an event stream.
	nothing, unseen := (len(namespaces) == 0 || unlisted != nil && len(listed) == 0) && apierrors.IsForbidden(err), err
	if err := shown.tolerate("managedclusters", err); err != nil {
		return nil, err
	}
	asked, err := requestItems(ctx, reader, namespaces)
	if err := shown.tolerate("clusterrequests", err); err != nil {
		return nil, err
	}
	delivered, err := v.deliveriesTo(ctx, metav1.NamespaceAll, shown.Namespace)
	if err := shown.tolerate("manifestworks", err); err != nil {
		return nil, err
	}
	failed := delivered.failures()
	shown.Deliveries, shown.Sets, shown.everywhere = failed, sets.sets, v.everywhere
	if unseen == nil {
		shown.Sets = sets.count(seen)
	}
	if shown.Namespace != "" {
		shown.Sets = slices.DeleteFunc(slices.Clone(shown.Sets), func(set clusterSet) bool {
			return !slices.Contains(set.Namespaces, shown.Namespace)
		})
	}
	shown.Unread = append(shown.Unread, sets.Unread...)
	shown.count(listed, seen, asked)
	shown.attend(slices.Concat(listed, failed.objects, asked, seen))
	if shown.Last, err = v.moves.of(ctx, v, namespaces); err != nil { // It is no reason against the rest of the page.
		shown.Unknown = problemOf(ctx, err).text
	}
	made := &page{
		Title: overviewSection, Section: overviewSection, JSON: shown, Static: nothing,
		Commands: v.commandsOf("placement explain --all", "kubectl get placements", "placement sets"),
	}
	if len(shown.Last) > 0 {
		made.Commands = append(made.Commands, v.commandsOf("placement history")...)
	}
	made.add("namespace", "namespace", map[string]string{"Namespace": shown.Namespace, "Action": "/"})
	made.add("counts", "counts", shown)
	made.add("attention", "attention", shown)
	made.add("lastmoves", "lastmoves", shown)
	made.add("sets", "sets", shown)
	return made, nil
}

// tolerate notes that a list was refused; it returns any other error.
func (o *overviewPage) tolerate(what string, err error) error {
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	if err != nil {
		o.Unread = append(o.Unread, what)
	}
	return nil
}

// count counts objects by state. Each state leads to its list.
func (o *overviewPage) count(listed, seen, asked []item) {
	o.Placements, o.Clusters, o.Requests = lists.CountStates(listed), lists.CountStates(seen), lists.CountStates(asked)
	for _, each := range []struct {
		path   string
		states []lists.Count
	}{{placementsPath, o.Placements}, {clustersPath, o.Clusters}, {requestsPath, o.Requests}} {
		namespace := o.Namespace
		if each.path == clustersPath {
			namespace = ""
		}
		for i := range each.states {
			each.states[i].Link = link([]string{each.path}, lists.ByNamespace, namespace, lists.ByState, each.states[i].State)
		}
	}
}

// attend lists the items that need attention, the worst first, and their causes.
func (o *overviewPage) attend(items []item) {
	o.Causes = causesIn(items, o.Namespace)
	if len(o.Causes) > causesShown {
		o.CausesMore, o.Causes = len(o.Causes)-causesShown, o.Causes[:causesShown]
	}
	o.Attention = slices.DeleteFunc(items, func(each item) bool { return !each.NeedsAttention() })
	slices.SortStableFunc(o.Attention, func(a, b item) int { return cmp.Compare(lists.Severity(a.Tone), lists.Severity(b.Tone)) })
	if len(o.Attention) > attentionShown {
		o.AttentionMore, o.Attention = len(o.Attention)-attentionShown, o.Attention[:attentionShown]
	}
}

// searchPage is the JSON of a search.
type searchPage struct {
	Query string `json:"query"`
	Found []item `json:"found"`
	More  int    `json:"more,omitempty"`
}

// search lists the objects whose names have a text, as far as the caller may list them.
func search(ctx context.Context, v *visit) (*page, error) {
	shown := searchPage{Query: v.query("q"), Found: []item{}}
	text := strings.ToLower(strings.TrimSpace(shown.Query))
	made := &page{Title: "Search", JSON: &shown}
	if text != "" {
		namespaces, err := v.namespacesShown(ctx)
		if err != nil {
			return nil, err
		}
		for _, list := range []func() ([]item, error){
			func() ([]item, error) { return placements(ctx, v.reader(), namespaces, v.namespace()) },
			func() ([]item, error) { return clusters(ctx, v.reader(), &setIndex{}) },
			func() ([]item, error) { return requestItems(ctx, v.reader(), namespaces) },
		} {
			items, err := list()
			if err != nil && !apierrors.IsForbidden(err) {
				return nil, err
			}
			for _, each := range items {
				if strings.Contains(strings.ToLower(each.Namespace+"/"+each.Name), text) {
					shown.Found = append(shown.Found, each)
				}
			}
		}
		slices.SortStableFunc(shown.Found, func(a, b item) int { // Exact names come first.
			return cmp.Compare(boolRank(strings.EqualFold(a.Name, text)), boolRank(strings.EqualFold(b.Name, text)))
		})
		if len(shown.Found) > found {
			shown.More, shown.Found = len(shown.Found)-found, shown.Found[:found]
		}
	}
	made.add("found", "found", shown)
	return made, nil
}

func boolRank(first bool) int {
	if first {
		return 0
	}
	return 1
}
