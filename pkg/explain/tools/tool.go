// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/debug"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// Tool is what placement explain, diff and simulate do for one system. A nil function is for a system that has no such thing.
type Tool struct {
	// Families are the objects of the system that questions are about, and Family is the name of those that Answer explains.
	Families []Family
	Family   string
	// Answer explains the objects of a question to users with fewer rights, and Answered returns an empty result of it, into which JSON is decoded.
	Answer   func(ctx context.Context, hub *Hub, o *ExplainOptions, question *endpoint.Question) (document.Source, error)
	Answered func() document.Source

	// Changed reports whether files that diff applies may change what the system decides.
	Changed func(o *DiffOptions, given *explain.State) bool
	// Read adds what decides about the system on a hub to a State; it does nothing if the files change none of it. The error unread is about missing
	// rights for some of it.
	Read func(ctx context.Context, o *DiffOptions, hub client.Client, given, state *explain.State) (unread, err error)
	// Compare adds differences. Limit leaves out of them what the user of a question may not see.
	Compare func(o *DiffOptions, c *Comparison, differences *explain.Differences) error
	Limit   func(s *Shown, differences *explain.Differences, question *endpoint.Question)
	// Unresolved returns an error about objects for which differences have no result.
	Unresolved func(differences *explain.Differences) error

	// Report adds to the reports of simulate what a State without changes gives, and HasReport reports whether a State without Placements gives
	// something.
	Report    func(o *ReportOptions, state *explain.State, reports *explain.Reports) error
	HasReport func(o *ReportOptions, state *explain.State) bool
	// Added are the results for which simulate --add reads objects with ReadAdded, from a namespace or all if it is empty, and reports what they
	// change with Simulate. No Placement depends on these objects.
	Added     explain.Concern
	ReadAdded func(ctx context.Context, hub client.Client, namespace string) (state *explain.State, unread, err error)
	Simulate  func(a *Addition, whatIf *explain.WhatIf, namespace string) (incomplete, err error)
}

// all are the tools of all systems, in the order of their parts in a report.
var all = []*Tool{&Placements, &Delivery, &Pods, &Requests}

// All returns the tools of all systems, in the order of their parts in a report. They must not be changed.
func All() []*Tool { return all }

// Of returns the Tool that explains the objects of a family; nil if there is none.
func Of(family string) *Tool {
	for _, each := range all {
		if each.Family == family {
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
