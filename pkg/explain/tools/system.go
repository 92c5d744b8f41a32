// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/debug"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// System is what placement explain, diff and simulate do for one system: the kinds that questions are about, and those of the interfaces below that
// it implements.
type System interface {
	// Categories are the objects of the system that questions are about.
	Categories() []Category
}

// Explainer explains the objects of the category that has CommandExplain among the commands that get objects.
type Explainer interface {
	System
	// Explain explains the objects of a question, also to users with fewer rights.
	Explain(ctx context.Context, hub *Hub, o *ExplainOptions, question *endpoint.Question) (document.Source, error)
	// NewExplanations returns an empty result of Explain, into which JSON is decoded.
	NewExplanations() document.Source
}

// Reader reads what decides about a system before files are compared with a hub.
type Reader interface {
	// Changes reports whether the files may change what the system decides.
	Changes(o *DiffOptions, given *explain.State) bool
	// Read adds what decides about the system on a hub to a State; it does nothing if the files change none of it. The error unread is about missing
	// rights for some of it.
	Read(ctx context.Context, o *DiffOptions, hub client.Client, given, state *explain.State) (unread, err error)
}

// Differ adds the differences of a system to those of a comparison.
type Differ interface {
	Diff(o *DiffOptions, c *Comparison, differences *explain.Differences) error
}

// Limiter leaves out of differences what the user of a question may not see.
type Limiter interface {
	Limit(visible *Visible, differences *explain.Differences, question *endpoint.Question)
}

// Checker returns an error about the objects for which differences have no result.
type Checker interface {
	Check(differences *explain.Differences) error
}

// Reporter adds to the reports of simulate what a State without changes gives.
type Reporter interface {
	Report(o *ReportOptions, state *explain.State, reports *explain.Reports) error
}

// OtherReporter is a Reporter of objects that are no Placements. It reports whether a State has some, which are reported without Placements too.
type OtherReporter interface {
	HasReport(o *ReportOptions, state *explain.State) bool
}

// Simulator reports what objects change that simulate --add adds, and that no Placement depends on.
type Simulator interface {
	// Adds are the results that the added objects are inputs of.
	Adds() explain.Concern
	// ReadHub reads what the objects are added to, from a namespace or all if it is empty.
	ReadHub(ctx context.Context, hub client.Client, namespace string) (state *explain.State, unread, err error)
	Simulate(a *Addition, whatIf *explain.WhatIf, namespace string) (incomplete, err error)
}

// systems is the list of all systems, in the order of their parts in a report.
var systems = []System{Placements{}, Delivery{}, Pods{}, Requests{}}

// All returns all systems, in the order of their parts in a report. The list must not be changed.
func All() []System { return systems }

// With returns the systems that implement an interface, in the order of their parts in a report.
func With[T any]() []T {
	var with []T
	for _, each := range systems {
		if one, is := each.(T); is {
			with = append(with, one)
		}
	}
	return with
}

// ExplainerOf returns the Explainer of the objects of a category; nil if there is none.
func ExplainerOf(category string) Explainer {
	for _, each := range With[Explainer]() {
		if slices.ContainsFunc(each.Categories(), func(c Category) bool {
			return c.Name == category && slices.Contains(c.GetFor, endpoint.CommandExplain)
		}) {
			return each
		}
	}
	return nil
}

// Settings are the flags of a hub that say how it decides.
type Settings struct {
	// Delivered are the kinds that are delivered to clusters.
	Delivered []federation.FederatedKind
	// Controllers are those that the hub runs; nil for files.
	Controllers []string
	// Limit is the removal budget.
	Limit removalbudget.Limit
	// Requests are the options of ClusterRequests.
	Requests clusterrequest.Options
}

// Configure makes a State evaluate with the settings.
func (s *Settings) Configure(state *explain.State) {
	state.Controllers, state.Limit = s.Controllers, s.Limit
	state.Federated.Limit = s.Limit
	state.ClusterRequests.Options = s.Requests
}

// Hub is a hub that questions are about, with the rights of a client.
type Hub struct {
	Settings

	Client client.Client
	// Limited shows only what the namespace of a question does, to users who may not read all that decides about its objects.
	Limited bool
	Now     func() time.Time
	// Live has the inventory of this process; nil if it has none.
	Live debug.Hub
}

// Source returns the source of what the client may read.
func (h *Hub) Source() *hubstate.API { return &hubstate.API{Client: h.Client, Delivered: h.Delivered} }

// ExplainOptions say how objects are explained.
type ExplainOptions struct {
	Settings

	// Limited shows only what the namespace of the object does: the hub explains for a user who may read no more.
	Limited bool
	// Clusters are explained in full.
	Clusters []string
	// Wide lists the clusters out of scope too.
	Wide bool
	// Rows selects the clusters of a report whose stages are explained, and which is an Outline then; nil for none.
	Rows func(report *explain.Report) []explain.ClusterReport
	// Suggest returns the end of an error about a name that does not exist, with those of the names that are similar; nil suggests none.
	Suggest func(name string, names []string) string
}
