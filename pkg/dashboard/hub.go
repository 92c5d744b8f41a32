// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"

	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// Hub is a hub as its users may see it. It is safe for concurrent use.
type Hub interface {
	// Reader returns a client that reads what a user may read. Other reads return the error Forbidden.
	Reader(caller user.Info) client.Client
	// Explain answers a question as the commands do. A user who may not read all that decides about the objects gets the answer that the endpoint of
	// explanations gives (docs/spec/differences.md E1a), or the error Forbidden. The error is one for the caller if it is an *endpoint.AnswerError.
	Explain(ctx context.Context, caller user.Info, question Question) (document.Source, error)
	// Namespaces returns the namespaces whose Placements a user may list, and whether these are all namespaces that have some.
	Namespaces(ctx context.Context, caller user.Info) (namespaces []string, all bool, err error)
	// Changes returns a channel that receives a value after objects have changed, until ctx ends.
	Changes(ctx context.Context) <-chan struct{}
	// Version returns a number that grows with the objects that placements depend on; 0 if that is not known.
	Version() uint64
	// VersionOf returns a number that grows with a Placement and its decisions, as far as that is known: the time, in nanoseconds since 1970, at
	// which the hub saw the last change, or 0 if it has seen none.
	VersionOf(placement inventory.Key) uint64
	// Holds reports whether the reviews of a Trail are decided as they were. A hub that asks for none returns false.
	Holds(ctx context.Context, reviews *access.Trail) bool
	// Settings returns how the hub evaluates, as far as it is known.
	Settings() Settings
}

// Settings are how a hub evaluates.
type Settings struct {
	// Controllers are those that the hub runs.
	Controllers []string
	// Limit is the removal budget.
	Limit removalbudget.Limit
	// Delivered are the kinds that are delivered to clusters.
	Delivered []federation.FederatedKind
}

// Question is what a page asks a Hub.
type Question struct {
	endpoint.Question

	// Rows selects the clusters of the report of a Placement whose stages are explained, and which is an Outline then; nil for none.
	Rows func(report *explain.Report) []explain.ClusterReport
}
