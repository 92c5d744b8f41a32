// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// setsPath is the path of the list of sets, and setsTitle its title.
const (
	setsPath  = "sets"
	setsTitle = "Cluster sets"
)

// itemSet is the kind of sets in a list.
const itemSet = "ManagedClusterSet"

// noSetName is the name of the row of the clusters that are in no set.
const noSetName = "in no set"

// setsPage lists the sets that the caller may read, and those that are bound to the namespaces whose bindings the caller may list.
func setsPage(ctx context.Context, v *visit) (*page, error) {
	sets, err := v.setsListed(ctx)
	if err != nil {
		return nil, err
	}
	known := sets.sets
	seen, err := clusters(ctx, v.reader(), sets)
	switch {
	case err == nil:
		known = sets.count(seen)
	case !apierrors.IsForbidden(err):
		return nil, err
	}
	items, byName := make([]item, 0, len(known)), make(map[string]*clusterSet, len(known))
	for i := range known {
		set := &known[i]
		name := cmp.Or(set.Set, noSetName)
		of := item{Kind: itemSet, Name: name, Namespaces: set.Namespaces, Message: set.Problem}
		if set.Clusters != nil { // The caller may read the list of them.
			of.Link = set.Link
		}
		if set.Problem != "" {
			of.Tone = document.Bad
		}
		items, byName[name] = append(items, of), set
	}
	shown, err := v.list(setsList(byName), items, sets.refused)
	if err != nil {
		return nil, err
	}
	told := listed(setsPath, shown)
	onPage := make([]*clusterSet, 0, len(shown.Objects))
	for i := range shown.Objects {
		onPage = append(onPage, byName[shown.Objects[i].Name])
	}
	told[setsPath] = onPage
	delete(told, "states")
	made := &page{
		Title: setsTitle, Section: clustersSection, JSON: told, Commands: []string{"placement sets"},
		Crumbs: []crumb{{Text: clustersSection, Link: link([]string{clustersPath})}},
	}
	made.addList(shown)
	return made, nil
}

// setsListed reads the sets with their namespaces: all of them, or those of the namespaces of the page where the caller may not list all bindings.
func (v *visit) setsListed(ctx context.Context) (*setIndex, error) {
	namespaces, err := v.namespacesShown(ctx)
	if err != nil {
		return nil, err
	}
	if v.namespace() != "" {
		sets, err := v.readSets(ctx, []string{metav1.NamespaceAll})
		if err != nil || !slices.Contains(sets.Unread, bindingsResource) {
			return sets, err
		}
	}
	v.within = v.namespace() != "" || !v.everywhere
	return v.readSets(ctx, namespaces)
}

// setsList is the list of some sets by their names.
func setsList(sets map[string]*clusterSet) lists.Definition {
	number := func(key, title string, of func(set *clusterSet) *int) lists.Column {
		value := func(o *item) int {
			if n := of(sets[o.Name]); n != nil {
				return *n
			}
			return -1
		}
		return lists.Column{
			Key: key, Title: title, Compare: func(a, b *item) int { return cmp.Compare(value(a), value(b)) },
			Cell: func(o *item) lists.Cell {
				if n := value(o); n >= 0 {
					return lists.Cell{Text: itoa(n), Kind: numberClass}
				}
				return lists.Cell{Text: document.NoValue, Kind: numberClass}
			},
		}
	}
	return lists.Definition{
		Path: "/" + setsPath, One: "cluster set", Many: "cluster sets", Filters: []string{lists.ByName, lists.ByNamespace},
		Columns: []lists.Column{
			nameColumn("Set"),
			{
				Key: "by", Title: "By", Compare: func(a, b *item) int { return cmp.Compare(sets[a.Name].By, sets[b.Name].By) },
				Cell: func(o *item) lists.Cell { return lists.Cell{Text: cmp.Or(sets[o.Name].By, document.NoValue)} },
			},
			number(clustersPath, "Clusters", func(set *clusterSet) *int { return set.Clusters }),
			number("available", clusterAvailable, func(set *clusterSet) *int { return set.Available }),
			{
				Key: "namespaces", Title: "Namespaces",
				Compare: func(a, b *item) int { return cmp.Compare(len(a.Namespaces), len(b.Namespaces)) },
				Cell: func(o *item) lists.Cell {
					return lists.Cell{Chips: o.Namespaces[:min(len(o.Namespaces), chipsShown)], Small: moreThan(len(o.Namespaces), chipsShown)}
				},
			},
			messageColumn(),
		},
	}
}
