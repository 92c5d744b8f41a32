// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

const (
	// rowsShown bounds the rows of a table, and attentionShown the objects that need attention.
	rowsShown      = 200
	attentionShown = 100
	// found bounds the names of a search.
	found = 50
)

// stateCount counts the items of a state.
type stateCount struct {
	State string        `json:"state"`
	Tone  document.Tone `json:"-"`
	Count int           `json:"count"`
	// Of is the number of all items.
	Of int `json:"-"`
}

// setCount counts the clusters of a set.
type setCount struct {
	Set       string `json:"set"`
	Clusters  int    `json:"clusters"`
	Available int    `json:"available"`
}

// overviewPage is the JSON of the overview.
type overviewPage struct {
	Namespace  string       `json:"namespace,omitempty"`
	Attention  []item       `json:"attention"`
	Placements []stateCount `json:"placements"`
	Clusters   []stateCount `json:"clusters"`
	Sets       []setCount   `json:"sets"`
	Requests   []stateCount `json:"requests"`
	// Names are the Placements of the page, and More counts the others.
	Names []item `json:"names"`
	More  int    `json:"more,omitempty"`
	// Unread says what is missing because the caller may not read it.
	Unread []string `json:"unread,omitempty"`
	// AttentionMore counts what needs attention and is not listed.
	AttentionMore int `json:"attentionMore,omitempty"`
	// Deliveries has the failed ones, which are in Attention.
	Deliveries deliveries `json:"-"`
	// Next is the URL of the next Placements; empty if there are none.
	Next string `json:"-"`
}

// overview shows what there is, and what needs attention.
func overview(ctx context.Context, v *visit) (*page, error) {
	namespaces, err := v.namespacesShown(ctx)
	if err != nil {
		return nil, err
	}
	reader, shown := v.reader(), overviewPage{Namespace: v.namespace()}
	listed, err := placements(ctx, reader, namespaces)
	if err != nil && (shown.Namespace == "" || !apierrors.IsForbidden(err)) {
		return nil, err
	}
	shown.unread("placements", err)
	seen, err := clusters(ctx, reader)
	// A user who may read nothing gets a page without an event stream.
	nothing := len(namespaces) == 0 && apierrors.IsForbidden(err)
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
	shown.Deliveries = failed

	shown.Placements, shown.Clusters, shown.Requests, shown.Sets = statesOf(listed), statesOf(seen), statesOf(asked), setsOf(seen)
	shown.attend(slices.Concat(listed, failed.Items, asked, seen))
	shown.page(v, listed)
	made := &page{
		Title: overviewSection, Section: overviewSection, JSON: shown, Static: nothing,
		Commands: []string{"placement explain --all -A", "kubectl get placements -A"},
	}
	if shown.Namespace != "" {
		made.Commands = []string{"placement explain --all -n " + shown.Namespace, "kubectl get placements -n " + shown.Namespace}
	}
	made.add("namespace", "namespace", map[string]string{"Namespace": shown.Namespace, "Action": "/"})
	made.add("counts", "counts", shown)
	made.add("attention", "attention", shown)
	made.add("placements", "placements", shown)
	return made, nil
}

// tolerate notes that a list was refused; it returns any other error.
func (o *overviewPage) tolerate(what string, err error) error {
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	o.unread(what, err)
	return nil
}

func (o *overviewPage) unread(what string, err error) {
	if err != nil {
		o.Unread = append(o.Unread, what)
	}
}

// attend lists the items that need attention, the worst first.
func (o *overviewPage) attend(items []item) {
	o.Attention = slices.DeleteFunc(items, func(each item) bool { return !each.needsAttention() })
	slices.SortStableFunc(o.Attention, func(a, b item) int { return cmp.Compare(severity(a.Tone), severity(b.Tone)) })
	if len(o.Attention) > attentionShown {
		o.AttentionMore, o.Attention = len(o.Attention)-attentionShown, o.Attention[:attentionShown]
	}
}

func severity(tone document.Tone) int {
	switch tone {
	case document.Bad:
		return 0
	case document.Fair:
		return 1
	default:
		return 2
	}
}

// page selects the Placements of the page.
func (o *overviewPage) page(v *visit, listed []item) {
	if state := v.query("state"); state != "" {
		listed = slices.DeleteFunc(slices.Clone(listed), func(each item) bool { return each.State != state })
	}
	from := v.number("from", len(listed), 0)
	o.Names = listed[from:min(from+rowsShown, len(listed))]
	if o.More = len(listed) - from - len(o.Names); o.More > 0 {
		o.Next = v.with("from", itoa(from+rowsShown))
	}
}

// statesOf counts items by state, the largest count first.
func statesOf(items []item) []stateCount {
	counts := []stateCount{}
	for _, each := range items {
		at := slices.IndexFunc(counts, func(count stateCount) bool { return count.State == each.State })
		if at < 0 {
			counts = append(counts, stateCount{State: each.State, Tone: each.Tone, Of: len(items)})
			at = len(counts) - 1
		}
		counts[at].Count++
	}
	slices.SortFunc(counts, func(a, b stateCount) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.State, b.State)) })
	return counts
}

// setsOf counts clusters by their set.
func setsOf(items []item) []setCount {
	counts := []setCount{}
	for _, each := range items {
		at, known := slices.BinarySearchFunc(counts, each.Set, func(count setCount, set string) int { return cmp.Compare(count.Set, set) })
		if !known {
			counts = slices.Insert(counts, at, setCount{Set: each.Set})
		}
		counts[at].Clusters++
		if each.State == clusterAvailable {
			counts[at].Available++
		}
	}
	return counts
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
			func() ([]item, error) { return placements(ctx, v.reader(), namespaces) },
			func() ([]item, error) { return clusters(ctx, v.reader()) },
			func() ([]item, error) { return requestItems(ctx, v.reader(), namespaces) },
		} {
			items, err := list()
			if err != nil && !apierrors.IsForbidden(err) {
				return nil, err
			}
			for _, each := range items {
				if err == nil && strings.Contains(strings.ToLower(each.Namespace+"/"+each.Name), text) {
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
