// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// followersUnread is a note of a comparison by the hub for a user who may list no objects of a kind that is delivered.
const followersUnread = "objects that follow this Placement are not in the report: this user may list none of a kind that is delivered"

// Placements is the System of Placements, and of the ManagedClusterSetBindings that decide about them.
type Placements struct{}

var _ interface {
	Explainer
	Reader
	Differ
	Limiter
	Checker
	Reporter
} = Placements{}

// Categories implements System.
func (Placements) Categories() []Category {
	return []Category{
		{
			Name: "placements", GetFor: []string{endpoint.CommandExplain, endpoint.CommandDiff, endpoint.CommandSimulate, endpoint.CommandHistory},
			ListFor: []string{endpoint.CommandSimulate}, Kinds: kindsAre(PlacementKinds()...),
		},
		{Name: "bindings", GetFor: []string{endpoint.CommandDiff}, BindsSet: true, Kinds: kindsAre(bindingKind)},
	}
}

// bindingKind is the kind of ManagedClusterSetBindings.
var bindingKind = schema.GroupVersion(clusterv1beta2.GroupVersion).WithKind("ManagedClusterSetBinding")

// PlacementKinds returns the kinds of Placements.
func PlacementKinds() []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, len(api.Adapters()))
	for _, adapter := range api.Adapters() {
		kinds = append(kinds, adapter.Kind())
	}
	return kinds
}

// Changes reports whether the files have a Placement.
func (Placements) Changes(_ *DiffOptions, given *explain.State) bool {
	return len(given.Placements) > 0
}

// Read reads what decides about the Placements of files, or about all of their namespace if the files change what is delivered.
func (Placements) Read(ctx context.Context, o *DiffOptions, hub client.Client, given, state *explain.State) (unread, err error) {
	var read *explain.State
	switch {
	case o.Effects.decidesDelivery(given):
		read, err = hubstate.AllFromCluster(ctx, hub, namespaceOf(given))
	case len(given.Placements) > 0:
		read, err = hubstate.FromCluster(ctx, hub, keysOfPlacements(given))
	default:
		return nil, nil
	}
	if err == nil {
		*state = *read
	}
	return nil, err
}

// keysOfPlacements returns the keys of the Placements of a State.
func keysOfPlacements(state *explain.State) []inventory.Key {
	keys := make([]inventory.Key, 0, len(state.Placements))
	for _, placement := range state.Placements {
		keys = append(keys, api.Read(placement).Key())
	}
	return keys
}

// Diff compares the Placements that were applied, and counts those that applied cluster sets and bindings affect.
func (Placements) Diff(_ *DiffOptions, c *Comparison, differences *explain.Differences) error {
	if len(c.Given.ClusterSets)+len(c.Given.Bindings) > 0 {
		affected := explain.NewWhatIf(c.Hub, c.After, nil, c.Now).Summary
		defer func() { differences.Affected = &affected }()
	}
	if len(c.Given.Placements) == 0 {
		return nil
	}
	lines := make(map[inventory.Key][]string, len(c.Applied))
	for _, one := range c.Applied {
		if placement := api.Read(one.To); placement != nil && len(one.Result.Refused) == 0 {
			lines[placement.Key()] = one.Result.Lines("live Placement")
		}
	}
	wanted := func(key inventory.Key) bool { _, is := lines[key]; return is }
	*differences = explain.Diff(c.Hub, c.After, wanted, c.Now)
	for i := range differences.Placements {
		difference := &differences.Placements[i]
		difference.Notes = append(difference.Notes, lines[difference.Key]...)
	}
	return nil
}

// Check returns an error that names the Placements without a valid result.
func (Placements) Check(differences *explain.Differences) error {
	var errs []error
	for _, difference := range differences.Placements {
		if difference.Stalled != "" {
			errs = append(errs, fmt.Errorf("no answer for Placement %s, which would keep its last decisions if this were applied: %s",
				difference.Key, difference.Stalled))
		}
	}
	return errors.Join(errs...)
}

// Limit adds notes on objects that follow the Placements, if the user may list none.
func (Placements) Limit(visible *Visible, differences *explain.Differences, _ *endpoint.Question) {
	for i := range differences.Placements {
		if !visible.Delivered {
			differences.Placements[i].Notes = append(differences.Placements[i].Notes, followersUnread)
		}
	}
}

// Report reports the Placements of a State.
func (Placements) Report(o *ReportOptions, state *explain.State, reports *explain.Reports) error {
	for _, evaluation := range state.Evaluate(reports.Now.Time, o.Wanted) {
		reports.Placements = append(reports.Placements, explain.NewReport(evaluation, o.All))
	}
	return nil
}

// NewExplanations implements Explainer.
func (Placements) NewExplanations() document.Source { return &counterfactual.Explanations{} }

// Explain explains Placements, with the inventory of this process where it has them.
func (Placements) Explain(ctx context.Context, hub *Hub, o *ExplainOptions, question *endpoint.Question) (document.Source, error) {
	keys := make([]inventory.Key, 0, len(question.Objects))
	for _, object := range question.Objects {
		keys = append(keys, inventory.NewPlacementKey(inventory.API(object.Group), question.Namespace, object.Name))
	}
	live, read := hub.evaluates(keys), hubstate.FromCluster
	if live && len(o.Clusters) == 0 { // Counterfactuals need the fleet.
		read = hubstate.Decided
	}
	state, err := read(ctx, hub.Client, keys)
	if err != nil {
		return nil, err
	}
	state.SetsHidden, state.Done = o.Limited, ctx.Done()
	for _, key := range keys {
		if !slices.ContainsFunc(state.Placements, func(placement api.Object) bool { return api.Read(placement).Key() == key }) {
			return nil, &endpoint.AnswerError{Err: fmt.Errorf("there is no Placement %s; correct the name or the namespace", key)}
		}
	}
	now := hub.Now()
	o.Configure(state)
	var evaluations []explain.Evaluation
	if live {
		evaluations, err = hub.evaluate(ctx, state, keys, now)
	} else {
		evaluations = state.Evaluate(now, func(key inventory.Key) bool { return slices.Contains(keys, key) })
	}
	if err != nil {
		return nil, err
	}
	found, err := o.explainEvaluations(state, evaluations, keys, now)
	if err != nil {
		return nil, &endpoint.AnswerError{Err: err}
	}
	return found, nil
}

// evaluates reports whether the inventory of this process evaluates Placements.
func (h *Hub) evaluates(keys []inventory.Key) bool {
	unserved := func(key inventory.Key) bool { return !h.Live.Serves(api.Of(key)) }
	return h.Live != nil && h.Live.Synced() && !slices.ContainsFunc(keys, unserved)
}

// evaluate evaluates Placements of a State with the inventory of this process. It costs what the Placements do, and no inventory of the fleet
// is made. It may see a change some milliseconds before the State does.
func (h *Hub) evaluate(
	ctx context.Context, state *explain.State, keys []inventory.Key, now time.Time,
) ([]explain.Evaluation, error) {
	compiler, snapshot := selector.NewCompiler(), h.Live.Snapshot().WithDone(state.Done)
	evaluations := make([]explain.Evaluation, 0, len(keys))
	for _, object := range state.Placements {
		placement := api.Read(object)
		if !slices.Contains(keys, placement.Key()) {
			continue
		}
		existing, err := h.Live.Present(ctx, placement)
		if err != nil {
			return nil, fmt.Errorf("reading the decisions of Placement %s: %w", placement.Key(), err)
		}
		evaluations = append(evaluations, explain.Evaluate(placement.Request(compiler), snapshot, existing, h.Live.Options(), now))
	}
	return evaluations, nil
}

// Placements explains Placements of a State, in the order of their keys.
func (o *ExplainOptions) Placements(state *explain.State, keys []inventory.Key, now time.Time) (*counterfactual.Explanations, error) {
	o.Configure(state)
	return o.explainEvaluations(state, state.Evaluate(now, func(key inventory.Key) bool { return slices.Contains(keys, key) }), keys, now)
}

// explainEvaluations explains evaluations of Placements of a State, in the order of their keys.
func (o *ExplainOptions) explainEvaluations(
	state *explain.State, evaluations []explain.Evaluation, keys []inventory.Key, now time.Time,
) (*counterfactual.Explanations, error) {
	SortByKeys(evaluations, keys, func(evaluation explain.Evaluation) inventory.Key { return evaluation.Placement.Key() })
	explanations := &counterfactual.Explanations{Now: metav1.NewTime(now), Placements: []counterfactual.Explanation{}}
	all := !o.Limited && (o.Wide || len(o.Clusters) > 0)
	for _, evaluation := range evaluations {
		clusters := make([]counterfactual.ClusterExplanation, 0, len(o.Clusters))
		for _, cluster := range o.Clusters {
			shown, known := counterfactual.Explain(evaluation, cluster)
			switch {
			case o.Limited && (!known || !counterfactual.InScope(shown)):
				return nil, notInScope(cluster)
			case !known:
				return nil, o.unknownCluster(state, evaluation, cluster)
			}
			shown.Counterfactuals = append(shown.Counterfactuals, counterfactual.Search(state, evaluation.Placement.Key(), cluster, now)...)
			if o.Limited {
				counterfactual.LimitCluster(&shown)
			}
			clusters = append(clusters, shown)
		}
		explanation := counterfactual.NewExplanation(o.report(state, evaluation, all), clusters)
		explanation.Rows = o.explainRows(evaluation, &explanation.Report)
		explanations.Placements = append(explanations.Placements, explanation)
	}
	return explanations, nil
}

// report reports an evaluation. Those whose rows are explained need no texts of the other clusters.
func (o *ExplainOptions) report(state *explain.State, evaluation explain.Evaluation, all bool) explain.Report {
	if o.Rows != nil {
		return state.Outline(evaluation)
	}
	return state.Explain(evaluation, all)
}

// explainRows explains the stages of the selected clusters of a report.
func (o *ExplainOptions) explainRows(evaluation explain.Evaluation, report *explain.Report) []counterfactual.ClusterExplanation {
	if o.Rows == nil {
		return nil
	}
	chosen, explainer := o.Rows(report), counterfactual.NewExplainer(evaluation)
	rows := make([]counterfactual.ClusterExplanation, 0, len(chosen))
	for i := range chosen {
		row, known := explainer.Cluster(chosen[i].Name)
		if !known || o.Limited && !counterfactual.InScope(row) {
			continue
		}
		if o.Limited {
			counterfactual.LimitCluster(&row)
		}
		rows = append(rows, row)
	}
	return rows
}

// unknownCluster returns the error for a cluster that does not exist. Existing decisions may still have it.
func (o *ExplainOptions) unknownCluster(state *explain.State, evaluation explain.Evaluation, cluster string) error {
	if evaluation.Existing.Incumbents()[cluster] {
		return fmt.Errorf("--cluster: there is no ManagedCluster %s any more, though the decisions of Placement %s have it; "+
			"leave --cluster out to see what becomes of them", cluster, evaluation.Placement.Key())
	}
	names := make([]string, 0, len(state.Clusters))
	for _, known := range state.Clusters {
		names = append(names, known.Name)
	}
	suggestion := ""
	if o.Suggest != nil {
		suggestion = o.Suggest(cluster, names)
	}
	return fmt.Errorf("--cluster: there is no ManagedCluster %s; correct the name, kubectl get managedclusters lists them%s", cluster, suggestion)
}
