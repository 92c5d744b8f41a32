// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"fmt"
	"net/http"
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
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// clustersList is the JSON of the list of clusters.
type clustersList struct {
	Clusters []item       `json:"clusters"`
	States   []stateCount `json:"states"`
	Sets     []setCount   `json:"sets"`
	More     int          `json:"more,omitempty"`
	Next     string       `json:"-"`
	Name     string       `json:"-"`
}

// clustersPage lists the clusters.
func clustersPage(ctx context.Context, v *visit) (*page, error) {
	all, err := clusters(ctx, v.reader())
	if err != nil {
		return nil, err
	}
	shown := clustersList{States: statesOf(all), Sets: setsOf(all), Name: v.query("name")}
	matching := slices.DeleteFunc(all, func(each item) bool {
		return !strings.Contains(each.Name, shown.Name) || v.query("set") != "" && each.Set != v.query("set") ||
			v.query("state") != "" && each.State != v.query("state")
	})
	from := v.number("from", len(matching), 0)
	shown.Clusters = matching[from:min(from+rowsShown, len(matching))]
	if shown.More = len(matching) - from - len(shown.Clusters); shown.More > 0 {
		shown.Next = v.with("from", itoa(from+rowsShown))
	}
	made := &page{Title: "Clusters", Section: "Clusters", JSON: shown, Commands: []string{"kubectl get managedclusters", "placement sets"}}
	made.add("clusters", "clusters", shown)
	return made, nil
}

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

	tone      document.Tone
	document  document.Document
	changes   []string
	delivered deliveries
}

// The methods give templates what the JSON does not have.

// Tone is that of the state.
func (c *clusterReport) Tone() document.Tone { return c.tone }

// Document is the result of the what-if.
func (c *clusterReport) Document() document.Document { return c.document }

// Shown are the first of the delivered objects.
func (c *clusterReport) Shown() []item { return c.Objects[:min(len(c.Objects), rowsShown)] }

// ObjectsMore counts the delivered objects that are not among those of Shown.
func (c *clusterReport) ObjectsMore() int { return len(c.Objects) - len(c.Shown()) }

// Deliveries says whether these are all.
func (c *clusterReport) Deliveries() deliveries { return c.delivered }

// Changes are those of the what-if.
func (c *clusterReport) Changes() string { return strings.Join(c.changes, ", ") }

// clusterPage shows all that concerns a cluster. The caller may get the cluster, and read what placements are decided by.
func clusterPage(ctx context.Context, v *visit) (*page, error) {
	name := v.request.PathValue("name")
	cluster := &clusterv1.ManagedCluster{}
	if err := v.reader().Get(ctx, client.ObjectKey{Name: name}, cluster); err != nil {
		return nil, err //nolint:wrapcheck // The status code of the response depends on its type.
	}
	shown := newClusterReport(cluster)
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
	changes, err := changesOf(v, name)
	if err != nil {
		return nil, err
	}
	if len(changes) > 0 {
		if err := shown.simulate(ctx, v, state, changes); err != nil {
			return nil, err
		}
	}
	made := &page{
		Title: name, Section: "Clusters", JSON: shown, Static: len(changes) > 0,
		Commands: []string{"kubectl get managedcluster " + name + " -o yaml", "placement simulate --drain " + name},
	}
	made.add("cluster", "cluster", shown)
	made.add("whatif", "whatif", shown)
	made.add("wants", "wants", shown)
	made.add("carries", "carries", shown)
	return made, nil
}

func newClusterReport(cluster *clusterv1.ManagedCluster) *clusterReport {
	known := clusterItem(cluster)
	shown := &clusterReport{
		Name: cluster.Name, State: known.State, Message: known.Message, tone: known.Tone, Labels: cluster.Labels,
		Conditions: cluster.Status.Conditions, Placements: []clusterVerdict{},
	}
	for _, taint := range cluster.Spec.Taints {
		text := taint.Key
		if taint.Value != "" {
			text += "=" + taint.Value
		}
		shown.Taints = append(shown.Taints, text+":"+string(taint.Effect))
	}
	if len(cluster.Status.ClusterClaims) > 0 {
		shown.Claims = map[string]string{}
	}
	for _, claim := range cluster.Status.ClusterClaims {
		shown.Claims[claim.Name] = claim.Value
	}
	return shown
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
				Message: "Cluster " + reference.Namespace + "/" + reference.Name, Link: link([]string{"requests", grant.Namespace, grant.Name}),
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

// changesOf returns the changes of the cluster that the URL asks about.
func changesOf(v *visit, cluster string) ([]whatif.Change, error) {
	var changes []whatif.Change
	if v.query("drain") != "" {
		changes = append(changes, whatif.Drain{Cluster: cluster})
	}
	for _, each := range []struct {
		parameter string
		parse     func(string) (whatif.Change, error)
	}{{"label", whatif.ParseLabel}, {"taint", whatif.ParseTaint}, {"claim", whatif.ParseClaim}} {
		text := strings.TrimSpace(v.query(each.parameter))
		if text == "" {
			continue
		}
		change, err := each.parse(cluster + ":" + text)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "%s: %q %s, without the name of the cluster", each.parameter, text, err)
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// simulate adds what changes of the cluster would do to placements and to delivered objects.
func (c *clusterReport) simulate(ctx context.Context, v *visit, state *explain.State, changes []whatif.Change) error {
	ctx, cancel := context.WithTimeout(ctx, whatIfTimeout)
	defer cancel()
	settings := v.hub.Settings()
	for _, change := range changes {
		c.changes = append(c.changes, change.String())
	}
	if err := hubstate.AddFederated(ctx, v.reader(), state, v.namespace(), settings.Delivered); err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	state.Federated.Limit = settings.Limit
	state.Done = ctx.Done()
	after, err := whatif.Apply(state, v.now, changes...)
	if err != nil {
		c.Problem = err.Error()
		return nil
	}
	result := explain.NewWhatIf(state, after, nil, v.now).WithObjects(state, after, func(key inventory.Key) bool {
		return v.namespace() == "" || key.Namespace == v.namespace()
	}, v.now)
	if ctx.Err() != nil {
		c.Problem = fmt.Sprintf("the what-if took longer than %s; choose a namespace, or use placement simulate", whatIfTimeout)
		return nil
	}
	result.Changes = c.changes
	c.WhatIf, c.document = &result, result.Document(document.Options{})
	return nil
}
