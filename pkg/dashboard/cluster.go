// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/dashboard/runbooks"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// clusterVerdict is what a Placement does with a cluster.
type clusterVerdict struct {
	Placement string `json:"placement"`
	Verdict   string `json:"verdict"`
	// Clause is the exact clause that decided, and Hold what ends the hold of a cluster that is held; nil for others. Reason has both for people.
	Clause  string         `json:"reason"`
	Hold    *document.Hold `json:"hold,omitempty"`
	Reason  string         `json:"-"`
	Decided bool           `json:"decided,omitempty"`
	Tone    document.Tone  `json:"-"`
	Link    string         `json:"-"`
}

// clusterReport is the JSON of the page of a cluster.
type clusterReport struct {
	Name       string             `json:"name"`
	State      string             `json:"state"`
	Message    string             `json:"message,omitempty"`
	Labels     map[string]string  `json:"labels,omitempty"`
	Taints     []string           `json:"taints,omitempty"`
	Claims     map[string]string  `json:"claims,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Sets are those in which the cluster is.
	Sets []string `json:"sets,omitempty"`
	// Placements are those that select the cluster, or in whose scope it is. Elsewhere counts the others, and Unevaluated those for which there was
	// no time.
	Placements  []clusterVerdict `json:"placements"`
	Elsewhere   int              `json:"elsewhere"`
	Unevaluated int              `json:"unevaluated,omitempty"`
	// Objects are the delivered objects on the cluster.
	Objects []item `json:"objects,omitempty"`
	// Requests have the openMCP Cluster from which the ManagedCluster comes.
	Requests []item `json:"requests,omitempty"`
	// WhatIf is what a change of the cluster would do, and Problem why there is no result.
	WhatIf  *explain.WhatIf `json:"whatIf,omitempty"`
	Problem string          `json:"problem,omitempty"`
	// Unread says what is missing because the caller may not read it.
	Unread []string `json:"unread,omitempty"`

	head      head
	delivered *deliveries
}

// The methods give templates what the JSON does not have.

// Lead is the head of the page.
func (c *clusterReport) Lead() head { return c.head }

// clusterConditions have the tone of True, of the conditions of ManagedClusters of which it is known what they mean.
var clusterConditions = map[string]document.Tone{
	clusterv1.ManagedClusterConditionHubAccepted: document.Good,
	clusterv1.ManagedClusterConditionJoined:      document.Good,
	clusterv1.ManagedClusterConditionAvailable:   document.Good,
	clusterv1.ManagedClusterConditionClockSynced: document.Good,
	clusterv1.ManagedClusterConditionHubDenied:   document.Bad,
	clusterrequest.ConditionClusterGone:          document.Bad,
}

// Told are the conditions with their meaning.
func (c *clusterReport) Told() []condition {
	told := make([]condition, 0, len(c.Conditions))
	for _, each := range c.Conditions {
		tone := document.Plain
		if met, known := clusterConditions[each.Type]; known {
			tone = toneOf(each.Status, metav1.ConditionTrue, met)
		}
		told = append(told, condition{Condition: each, Tone: tone, Runbook: runbooks.Link(each.Type, each.Reason)})
	}
	return told
}

// placementsPaged are the Placements of a page of their table.
type placementsPaged struct {
	Rows                   []clusterVerdict
	First, To, Of          int
	Previous, Next         string
	Elsewhere, Unevaluated int
}

// paged returns the Placements of the page of the table that the URL asks for.
func (c *clusterReport) paged(v *visit) placementsPaged {
	from := v.number("from", max(0, len(c.Placements)-1), 0)
	to := min(from+lists.RowsShown, len(c.Placements))
	shown := placementsPaged{
		Rows: c.Placements[from:to], First: from + 1, To: to, Of: len(c.Placements), Elsewhere: c.Elsewhere, Unevaluated: c.Unevaluated,
	}
	if to < len(c.Placements) {
		shown.Next = v.with("from", itoa(to)) + "#wants"
	}
	if from > 0 {
		shown.Previous = v.with("from", itoa(max(0, from-lists.RowsShown))) + "#wants"
	}
	return shown
}

// Shown are the first of the delivered objects.
func (c *clusterReport) Shown() []item { return c.Objects[:min(len(c.Objects), rowsShown)] }

// ObjectsMore counts the delivered objects that are not among those of Shown.
func (c *clusterReport) ObjectsMore() int { return len(c.Objects) - len(c.Shown()) }

// Deliveries says whether these are all.
func (c *clusterReport) Deliveries() *deliveries { return c.delivered }

// clusterPage shows all that concerns a cluster. The caller may get the cluster, and read what placements are decided by.
func clusterPage(ctx context.Context, v *visit) (*page, error) {
	name := v.request.PathValue("name")
	cluster := &clusterv1.ManagedCluster{}
	if err := v.reader().Get(ctx, client.ObjectKey{Name: name}, cluster); err != nil {
		return nil, err //nolint:wrapcheck // The status code of the response depends on its type.
	}
	shown := newClusterReport(cluster)
	sets, err := v.readSets(ctx, nil)
	if err != nil {
		return nil, err
	}
	shown.lead(cluster, sets.of(cluster.Labels))
	state, err := v.state(ctx)
	if err != nil {
		return nil, err
	}
	shown.evaluate(ctx, state, v)
	if err := shown.deliveries(ctx, v); err != nil {
		return nil, err
	}
	if err := shown.request(ctx, v); err != nil {
		return nil, err
	}
	form := whatIfForm(v, name)
	if len(form.changes) > 0 && !form.mistaken() {
		if err := shown.simulate(ctx, v, state, form); err != nil {
			return nil, err
		}
	}
	shown.blame(form)
	made := &page{
		Title: name, Section: clustersSection, JSON: shown, Static: form.asked(), Code: form.code(),
		Crumbs:   []crumb{{Text: clustersSection, Link: link([]string{clustersPath})}},
		Commands: []string{"kubectl get managedcluster " + name + " -o yaml", "placement simulate --drain " + name},
	}
	made.add("cluster", "cluster", shown)
	made.add("whatif", "whatif", form)
	made.add("wants", "wants", shown.paged(v))
	made.add("carries", "carries", shown)
	return made, nil
}

func newClusterReport(cluster *clusterv1.ManagedCluster) *clusterReport {
	known := clusterItem(cluster)
	shown := &clusterReport{
		Name: cluster.Name, State: known.State, Message: known.Message, Labels: cluster.Labels, Claims: known.Claims,
		Conditions: cluster.Status.Conditions, Placements: []clusterVerdict{},
		head: head{State: known.State, Tone: known.Tone, Text: known.Message},
	}
	if !known.Since.IsZero() {
		shown.head.add(fact{Label: "Since", Time: known.Since})
	}
	for _, taint := range cluster.Spec.Taints {
		text := taint.Key
		if taint.Value != "" {
			text += "=" + taint.Value
		}
		shown.Taints = append(shown.Taints, text+":"+string(taint.Effect))
	}
	return shown
}

// lead adds the fields of the head.
func (c *clusterReport) lead(cluster *clusterv1.ManagedCluster, sets []string) {
	c.Sets = sets
	taints := make([]chip, 0, len(c.Taints))
	for _, taint := range c.Taints {
		taints = append(taints, chip{Text: taint, Tone: document.Fair})
	}
	none := func(chips []chip) string {
		if len(chips) == 0 {
			return "none"
		}
		return ""
	}
	for _, each := range []struct {
		label string
		chips []chip
	}{{"Sets", setChips(sets)}, {"Taints", taints}} {
		c.head.add(fact{Label: each.label, Chips: each.chips, Text: none(each.chips)})
	}
	c.head.add(fact{Label: "Created", Time: cluster.CreationTimestamp.Time})
	accepted := "yes"
	if !cluster.Spec.HubAcceptsClient {
		accepted = "no: spec.hubAcceptsClient is false"
	}
	c.head.add(fact{Label: "Accepted", Text: accepted})
	c.head.add(fact{Label: "Owner", Text: ownerOf(cluster)})
	c.head.add(fact{Label: historySection, Text: "decisions that it has joined and left", Link: link([]string{clustersPath, c.Name, historyPath})})
	c.head.add(fact{Label: "Labels", Chips: chipsOf(cluster.Labels), Text: none(chipsOf(cluster.Labels))})
	c.head.add(fact{Label: "Claims", Chips: chipsOf(c.Claims)})
}

// blame has the JSON say what is wrong with the fields of a what-if.
func (c *clusterReport) blame(form *whatIfPart) {
	for _, field := range form.Fields {
		if field.Problem != "" {
			c.Problem = field.Name + ": " + field.Problem
		}
	}
}

// state reads what decides about the Placements of the namespaces of the page, with the delivered objects where there is something to compare.
func (v *visit) state(ctx context.Context) (*explain.State, error) {
	state, err := hubstate.AllFromCluster(ctx, v.reader(), v.namespace())
	if err != nil {
		return nil, err
	}
	settings := v.hub.Settings()
	state.Controllers, state.Limit, state.Workers = settings.Controllers, settings.Limit, 1
	return state, nil
}

// evaluate adds what each Placement does with the cluster, as long as there is time.
func (c *clusterReport) evaluate(ctx context.Context, state *explain.State, v *visit) {
	ctx, cancel := context.WithTimeout(ctx, whatIfTimeout)
	defer cancel()
	state.Done = ctx.Done()
	evaluations := state.Evaluate(v.now, nil)
	state.Done = nil
	if ctx.Err() != nil && len(evaluations) > 0 {
		evaluations = evaluations[:len(evaluations)-1] // The last one may be incomplete.
	}
	c.Unevaluated = len(state.Placements) - len(evaluations)
	for _, evaluation := range evaluations {
		explained, known := counterfactual.Explain(evaluation, c.Name)
		if !known || explained.Verdict == scheduling.StageScope.String() && !explained.Decided {
			c.Elsewhere++
			continue
		}
		c.Placements = append(c.Placements, clusterVerdict{
			Placement: evaluation.Placement.Key().String(), Verdict: verdictOf(explained.Verdict), Clause: explained.Reason,
			Hold: explained.Hold, Reason: explained.Hold.Explain(explained.Reason), Decided: explained.Decided,
			Tone: document.VerdictTone(explained.Verdict), Link: withDetail(placementLink(evaluation.Placement), c.Name),
		})
	}
	slices.SortStableFunc(c.Placements, func(a, b clusterVerdict) int {
		return boolRank(a.Tone == document.Good) - boolRank(b.Tone == document.Good)
	})
}

// withDetail returns the URL of a Placement that explains a cluster.
func withDetail(placement, cluster string) string {
	separator := "?"
	if strings.Contains(placement, "?") {
		separator = "&"
	}
	return inDetail(placement+separator+"cluster=", cluster)
}

// deliveries adds the delivered objects on the cluster.
func (c *clusterReport) deliveries(ctx context.Context, v *visit) error {
	found, err := v.deliveriesTo(ctx, c.Name, metav1.NamespaceAll)
	if apierrors.IsForbidden(err) {
		c.Unread = append(c.Unread, "manifestworks")
		return nil
	}
	c.Objects, c.delivered = found.Items, found
	return err
}

// request adds the ClusterRequests that were granted the openMCP Cluster of the ManagedCluster. The caller needs list on ClusterRequestGrants.
func (c *clusterReport) request(ctx context.Context, v *visit) error {
	var granted []item
	all := []string{metav1.NamespaceAll}
	err := eachObject(ctx, v.reader(), all, &openmcpv1alpha1.ClusterRequestGrantList{}, func(object runtime.Object) error {
		grant, is := object.(*openmcpv1alpha1.ClusterRequestGrant)
		if !is {
			return nil
		}
		reference := grant.Spec.ClusterRef
		if clusterrequest.ManagedClusterName(types.NamespacedName{Namespace: reference.Namespace, Name: reference.Name}) == c.Name {
			granted = append(granted, item{
				Kind: itemRequest, Namespace: grant.Namespace, Name: grant.Name, State: string(openmcpv1alpha1.RequestGranted), Tone: document.Good,
				Message: "Cluster " + reference.Namespace + "/" + reference.Name, Link: link([]string{requestsPath, grant.Namespace, grant.Name}),
			})
		}
		return nil
	})
	if apierrors.IsForbidden(err) {
		c.Unread = append(c.Unread, "clusterrequestgrants")
		return nil
	}
	c.Requests = granted
	return err
}
