// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// The keys of the orders of lists.
const (
	orderName     = "name"
	orderKind     = "kind"
	orderState    = "state"
	orderSelected = "selected"
	orderClusters = "copies"
	orderSet      = "set"
	orderSince    = "since"
	orderCreated  = "created"
)

// numberClass and nameClass are the classes of cells.
const (
	numberClass = "number"
	nameClass   = "name"
)

func nameColumn(title string) lists.Column {
	return lists.Column{
		Key: orderName, Title: title, Compare: func(a, b *item) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		},
		Cell: func(o *item) lists.Cell {
			return lists.Cell{Text: qualified(o), Link: o.Link, Small: o.API, Kind: nameClass}
		},
	}
}

func kindColumn() lists.Column {
	return lists.Column{
		Key: orderKind, Title: "Kind", Compare: func(a, b *item) int { return cmp.Compare(a.Kind, b.Kind) },
		Cell: func(o *item) lists.Cell { return lists.Cell{Text: o.Kind} },
	}
}

// stateColumn sorts the worst first.
func stateColumn() lists.Column {
	return lists.Column{
		Key: orderState, Title: "State", Compare: func(a, b *item) int {
			return cmp.Or(cmp.Compare(lists.Severity(a.Tone), lists.Severity(b.Tone)), cmp.Compare(a.State, b.State))
		},
		Cell: func(o *item) lists.Cell { return lists.Cell{Text: o.State, State: true, Tone: o.Tone} },
	}
}

func selectedColumn() lists.Column {
	number := func(o *item) int {
		if o.Selected == nil {
			return -1
		}
		return *o.Selected
	}
	return lists.Column{
		Key: orderSelected, Title: "Selected", Compare: func(a, b *item) int { return cmp.Compare(number(a), number(b)) },
		Cell: func(o *item) lists.Cell { return lists.Cell{Text: selectedOf(o), Kind: numberClass} },
	}
}

// selectedOf returns "2 of 3", or "2 of all" for a Placement that wants all clusters that fit. A number that is not known is document.NoValue.
func selectedOf(o *item) string {
	selected, wanted := document.NoValue, "all"
	if o.Selected != nil {
		selected = itoa(*o.Selected)
	}
	if o.Wanted != nil {
		wanted = strconv.Itoa(int(*o.Wanted))
	}
	return selected + " of " + wanted
}

// shownStateColumn is stateColumn for states that the objects of the page alone have, so that nothing is sorted by it.
func shownStateColumn() lists.Column {
	column := stateColumn()
	ofState := column.Cell
	column.Key, column.Compare = "", nil
	column.Cell = func(o *item) lists.Cell {
		if o.State == "" {
			return lists.Cell{Text: document.NoValue}
		}
		return ofState(o)
	}
	return column
}

// setsColumn shows the sets of a cluster, or those that a Placement names; none says what no set means.
func setsColumn(none string) lists.Column {
	return lists.Column{
		Key: orderSet, Title: "Sets", Compare: func(a, b *item) int { return cmp.Compare(strings.Join(a.Sets, " "), strings.Join(b.Sets, " ")) },
		Cell: func(o *item) lists.Cell {
			if len(o.Sets) == 0 {
				return lists.Cell{Text: none}
			}
			return lists.Cell{Chips: o.Sets[:min(len(o.Sets), chipsShown)], Small: moreThan(len(o.Sets), chipsShown)}
		},
	}
}

// chipsShown bounds the chips of a cell.
const chipsShown = 8

// moreThan returns "and 3 more" for what is not shown; empty for nothing.
func moreThan(all, shown int) string {
	if all <= shown {
		return ""
	}
	return "and " + itoa(all-shown) + " more"
}

func sinceColumn() lists.Column {
	return lists.Column{
		Key: orderSince, Title: "Since (UTC)", Compare: func(a, b *item) int { return a.Since.Compare(b.Since) },
		Cell: func(o *item) lists.Cell { return lists.Cell{Time: o.Since, Kind: "since"} },
	}
}

func createdColumn() lists.Column {
	return lists.Column{
		Key: orderCreated, Title: "Created (UTC)", Compare: func(a, b *item) int { return a.Created.Compare(b.Created) },
		Cell: func(o *item) lists.Cell { return lists.Cell{Time: o.Created, Kind: "since"} },
	}
}

func messageColumn() lists.Column {
	return lists.Column{Title: "Message", Cell: func(o *item) lists.Cell { return lists.Cell{Text: o.Message, Kind: "message"} }}
}

// copiesColumn shows to how many clusters an object is delivered, and how many of them have failed.
func copiesColumn() lists.Column {
	return lists.Column{
		Key: orderClusters, Title: "Clusters", Compare: func(a, b *item) int {
			return cmp.Or(cmp.Compare(a.Failed, b.Failed), cmp.Compare(a.Clusters, b.Clusters))
		},
		Cell: func(o *item) lists.Cell {
			cell := lists.Cell{Text: itoa(o.Clusters), Kind: numberClass}
			if o.Failed > 0 {
				cell.Small = itoa(o.Failed) + " failed"
			}
			return cell
		},
	}
}

// The lists of the navigation.
var (
	placementsList = lists.Definition{
		Path: "/" + placementsPath, One: "Placement", Many: "Placements",
		Columns: []lists.Column{
			nameColumn("Placement"), stateColumn(), selectedColumn(), setsColumn("every bound set"), sinceColumn(), messageColumn(),
		},
		Filters: []string{lists.ByName, lists.ByNamespace, lists.BySet, lists.ByState, lists.ByLabel},
	}
	clustersOfFleet = lists.Definition{
		Path: "/" + clustersPath, One: "cluster", Many: clustersPath,
		Columns: []lists.Column{nameColumn("Cluster"), stateColumn(), setsColumn("none"), sinceColumn(), messageColumn()},
		Filters: []string{lists.ByName, lists.BySet, lists.ByState, lists.ByLabel},
	}
	objectsList = lists.Definition{
		Path: "/" + objectsPath, One: "delivered object", Many: "delivered objects",
		Columns: []lists.Column{nameColumn("Object"), kindColumn(), stateColumn(), copiesColumn(), sinceColumn(), messageColumn()},
		Filters: []string{lists.ByName, lists.ByNamespace, lists.BySet, lists.ByKind, lists.ByState, lists.ByLabel},
	}
	requestsList = lists.Definition{
		Path: "/requests", One: "ClusterRequest", Many: "ClusterRequests",
		Columns: []lists.Column{nameColumn("ClusterRequest"), stateColumn(), sinceColumn(), messageColumn()},
		Filters: []string{lists.ByName, lists.ByNamespace, lists.ByState, lists.ByLabel},
	}
	workloadsList = lists.Definition{
		Path: "/workloads", One: "workload", Many: "workloads",
		Columns: []lists.Column{nameColumn("Workload"), kindColumn(), createdColumn()},
		Filters: []string{lists.ByName, lists.ByNamespace, lists.ByKind, lists.ByLabel},
	}
)

// workloadsOfNamespace is workloadsList for the workloads of one namespace, with their states. No object has the state of a workload: it is an
// evaluation, which reads the workload, its policies and class, and the nodes. Only the rows of a page are evaluated, so that there is no filter by
// state, no order by it and no count. They are all of one namespace, so that what decides is read for up to endpoint.MaxNames rows together.
func workloadsOfNamespace(states func(shown []item)) lists.Definition {
	definition := workloadsList
	definition.Columns = []lists.Column{nameColumn("Workload"), kindColumn(), shownStateColumn(), createdColumn()}
	definition.Complete = states
	return definition
}
