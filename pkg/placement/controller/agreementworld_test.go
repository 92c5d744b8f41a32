// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/debug"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// definitions are the CustomResourceDefinitions that the hub installs.
var definitions = sync.OnceValues(manifests.Definitions)

var placementAdmission = sync.OnceValues(func() (*statefile.Admission, error) {
	crds, err := definitions()
	if err != nil {
		return nil, err
	}
	return statefile.NewAdmission(crds)
})

// outcome is what becomes of the placement, as somebody says it or as the controller has written it.
type outcome struct {
	Held     bool
	Selected []string
	// Removal is the condition RemovalHeld; empty when there is none.
	Removal string
	// Staying are the clusters with the verdict Held: of what is written, those that the record of the budget has.
	Staying []string
	// Unknown says that whoever says this does not know the limit of the hub, and says so.
	Unknown bool
}

// agreement is a hub with a removal budget and the placement ns/p, a standby of it, and observers that know the limit of the hub and
// that do not.
type agreement struct {
	*rapid.T

	api      client.WithWatch
	leader   *reconciler
	views    map[string]*View
	all      []*state
	clock    *clocktesting.FakePassiveClock
	limit    removalbudget.Limit
	clusters map[string]*clusterv1.ManagedCluster
	set      *clusterv1beta2.ManagedClusterSet
	binding  *clusterv1beta2.ManagedClusterSetBinding
	unbound  bool
}

func newAgreement(tb testing.TB, t *rapid.T) *agreement {
	tb.Helper()
	a := &agreement{
		T: t, clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		limit: removalbudget.Limit{
			Percent:       new(rapid.SampledFrom([]int{0, 20, 50, 100}).Draw(t, "percent")),
			CountReplaced: new(rapid.Bool().Draw(t, "replaced count")),
		},
		clusters: map[string]*clusterv1.ManagedCluster{},
		set:      &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}},
		binding:  &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}},
	}
	a.binding.Spec.ClusterSet = "set"

	for i := range rapid.SampledFrom([]int{8, 8, 1}).Draw(t, "clusters at the start") {
		a.clusters[fmt.Sprintf("c%d", i)] = regional(i, "eu")
	}

	placement := &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", Generation: 1, Annotations: map[string]string{}},
	}
	placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
	}}}
	store := newClientBuilder().
		WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}).WithObjects(a.applied(placement))

	api := []api.Adapter{api.V1beta1}
	a.leader, a.api = newReconciler(tb, servedAPIs{apis: api}, store)
	a.restart()
	a.settle()
	return a
}

// restart gives every process a memory of its own, without what they remembered.
func (a *agreement) restart() {
	api := []api.Adapter{api.V1beta1}
	process := func(o servedAPIs) *state {
		shared := newState(sharedinventory.New(), o, a.clock)
		shared.Synced.Store(true)
		shared.inventory.SetClusterSet(a.set)
		a.bind(shared)
		for _, cluster := range a.clusters {
			shared.inventory.SetCluster(cluster)
		}
		return shared
	}

	leader := process(servedAPIs{apis: api, limit: a.limit})
	a.leader.state, a.leader.decider.engine = leader, newEngine(leader.inventory)
	a.leader.applier.reporter.recorder = events.NewFakeRecorder(1000)

	a.all, a.views = []*state{leader}, map[string]*View{"leader": {known: a.leader.reader}}
	for name, o := range map[string]servedAPIs{
		"standby":           {apis: api, limit: a.limit},
		"observer, told":    {apis: api, outside: true, limit: a.limit},
		"observer, untold":  {apis: api, outside: true},
		"observer, percent": {apis: api, outside: true, limit: removalbudget.Limit{Percent: a.limit.Percent}},
	} {
		shared := process(o)
		a.all, a.views[name] = append(a.all, shared), &View{known: &reader{state: shared, client: a.api}}
	}
}

// bind shows the binding to a process, or that there is none.
func (a *agreement) bind(shared *state) {
	if a.unbound {
		shared.inventory.DeleteBinding("ns", "set")
	} else {
		shared.inventory.SetBinding(a.binding)
	}
}

// observe shows the Placement to every process, as its watch does.
func (a *agreement) observe() {
	for _, shared := range a.all {
		shared.requests.of(api.V1beta1.Read(a.placement()))
	}
}

// regional is a cluster of a region.
func regional(i int, region string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("c%d", i), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set", "region": region},
	}}
}

func (a *agreement) must(err error) {
	if err != nil {
		a.Fatal(err)
	}
}

// settle has the leader evaluate until there is nothing left to do at once.
func (a *agreement) settle() {
	for range 8 {
		result, err := a.leader.Reconcile(a.Context(), placementKey("p"))
		a.must(err)
		if result.RequeueAfter != time.Nanosecond {
			return
		}
	}
	a.Fatal("there is always something left to do")
}

func (a *agreement) placement() *clusterv1beta1.Placement {
	placement := &clusterv1beta1.Placement{}
	a.must(a.api.Get(a.Context(), placementKey("p").NamespacedName, placement))
	return placement
}

// disturb changes the fleet, or the binding of its set.
func (a *agreement) disturb() {
	first := rapid.IntRange(0, 11).Draw(a.T, "first cluster")
	last := min(12, first+rapid.SampledFrom([]int{1, 2, 8}).Draw(a.T, "clusters"))
	event := rapid.SampledFrom([]string{"delete", "eu", "us", "taint", "wait", "bind"}).Draw(a.T, "event")
	taint := ""
	switch event {
	case "wait":
		a.clock.SetTime(a.clock.Now().Add(time.Duration(rapid.IntRange(1, 700).Draw(a.T, "seconds")) * time.Second))
		return
	case "bind":
		a.unbound = !a.unbound
		for _, shared := range a.all {
			a.bind(shared)
		}
		return
	case "taint":
		event, taint = "eu", rapid.SampledFrom(taints).Draw(a.T, "taint")
	}

	for i := first; i < last; i++ {
		name := fmt.Sprintf("c%d", i)
		if event == "delete" {
			delete(a.clusters, name)
		} else {
			a.clusters[name] = regional(i, event)
		}
		if taint != "" {
			a.clusters[name].Spec.Taints = []clusterv1.Taint{{Key: taint, Effect: clusterv1.TaintEffectNoSelect}}
		}

		for _, shared := range a.all {
			if event == "delete" {
				shared.inventory.DeleteCluster(name)
			} else {
				shared.inventory.SetCluster(a.clusters[name])
			}
		}
	}
}

// taints are those of an administrator, of a cluster that is away, and of one that drains.
var taints = []string{"maintenance", clusterv1.ManagedClusterTaintUnreachable, openmcpv1alpha1.TerminatingTaint}

// propose is the placement with another spec or other annotations.
func (a *agreement) propose() *clusterv1beta1.Placement {
	changed := a.placement()
	for range rapid.IntRange(1, 2).Draw(a.T, "edits") {
		edits := []string{"number", "all", "region", "percent", "no percent", "replaced", "release", "next", "none", "tolerate", "sets", "spelling"}
		switch rapid.SampledFrom(edits).Draw(a.T, "edit") {
		case "number":
			changed.Spec.NumberOfClusters = new(int32(rapid.IntRange(0, 9).Draw(a.T, "numberOfClusters")))
		case "all":
			changed.Spec.NumberOfClusters = nil
		case "region":
			region := rapid.SampledFrom([]string{"eu", "us", "mars"}).Draw(a.T, "region")
			changed.Spec.Predicates[0].RequiredClusterSelector.LabelSelector.MatchLabels["region"] = region
		case "percent":
			changed.Annotations[removalbudget.PercentAnnotation] = rapid.SampledFrom([]string{"0", "30", "100", "x"}).Draw(a.T, "percent annotation")
		case "no percent":
			delete(changed.Annotations, removalbudget.PercentAnnotation)
		case "replaced":
			changed.Annotations[removalbudget.CountReplacedAnnotation] = rapid.SampledFrom([]string{"true", "false"}).Draw(a.T, "replaced annotation")
		case "release":
			changed.Annotations[removalbudget.ReleaseAnnotation] = strconv.FormatInt(changed.Generation, 10)
		case "next":
			changed.Annotations[removalbudget.ReleaseAnnotation] = strconv.FormatInt(changed.Generation+1, 10)
		case "none":
			delete(changed.Annotations, removalbudget.ReleaseAnnotation)
		case "tolerate":
			changed.Spec.Tolerations = []clusterv1beta1.Toleration{{Key: rapid.SampledFrom(taints).Draw(a.T, "tolerated"), Operator: "Exists"}}
		case "sets":
			changed.Spec.ClusterSets = rapid.SampledFrom([][]string{nil, {"set"}, {"other"}, {"set", "other"}}).Draw(a.T, "sets")
		case "spelling":
			changed.Spec.PrioritizerPolicy = clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeAdditive}
			changed.Spec.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{}
		}
	}

	return changed
}

// manifest is what a user has of a placement in a file.
func (a *agreement) manifest(placement *clusterv1beta1.Placement) []byte {
	annotations := maps.Clone(placement.Annotations)
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	text, err := json.Marshal(map[string]any{
		"apiVersion": clusterv1beta1.GroupVersion.String(), "kind": "Placement", "spec": placement.Spec,
		"metadata": map[string]any{"namespace": "ns", "name": "p", "annotations": annotations},
	})
	a.must(err)
	return text
}

// applied is a placement as an API server keeps it once a file was applied by kubectl.
func (a *agreement) applied(placement *clusterv1beta1.Placement) *clusterv1beta1.Placement {
	known, err := placementAdmission()
	a.must(err)
	manifest := a.manifest(placement)
	var object map[string]any
	a.must(json.Unmarshal(manifest, &object))
	read, err := known.Placement(api.V1beta1, object)
	a.must(err)

	admitted, is := read.Object.(*clusterv1beta1.Placement)
	if !is {
		a.Fatalf("admitted as %T", read.Object)
	}
	result := placement.DeepCopy()
	result.Spec = admitted.Spec
	metav1.SetMetaDataAnnotation(&result.ObjectMeta, corev1.LastAppliedConfigAnnotation, string(manifest))
	return result
}

// apply writes a placement to the hub. The API server counts changes of the spec.
func (a *agreement) apply(placement *clusterv1beta1.Placement) {
	result, live := a.applied(placement), a.placement()
	one, err := json.Marshal(result.Spec)
	a.must(err)
	other, err := json.Marshal(live.Spec)
	a.must(err)
	if result.Generation = live.Generation; !bytes.Equal(one, other) {
		result.Generation++
	}
	result.ResourceVersion = live.ResourceVersion
	a.must(a.api.Update(a.Context(), result))
}

// state is what the hub holds, to who reads it with a limit.
func (a *agreement) state(limit removalbudget.Limit) *explain.State {
	world := &explain.State{
		ClusterSets: []*clusterv1beta2.ManagedClusterSet{a.set}, Placements: []api.Object{a.placement()}, Limit: limit,
	}
	if !a.unbound {
		world.Bindings = append(world.Bindings, a.binding)
	}
	for _, name := range slices.Sorted(maps.Keys(a.clusters)) {
		world.Clusters = append(world.Clusters, a.clusters[name])
	}
	pages := &clusterv1beta1.PlacementDecisionList{}
	a.must(a.api.List(a.Context(), pages))

	for i := range pages.Items {
		world.Decisions = append(world.Decisions, &pages.Items[i])
	}
	return world
}

// removal is what conditions say of held removals.
func removal(conditions []metav1.Condition) string {
	condition := meta.FindStatusCondition(conditions, removalbudget.Condition)
	if condition == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message)
}

// written is what the leader has written.
func (a *agreement) written() outcome {
	placement := a.placement()
	selected := map[string]bool{}
	for _, object := range a.state(removalbudget.Limit{}).Decisions {
		page, is := object.(*clusterv1beta1.PlacementDecision)
		if !is {
			a.Fatalf("a decision is a %T", object)
		}
		for _, decision := range page.Status.Decisions {
			selected[decision.ClusterName] = true
		}
	}

	return outcome{
		Held:     meta.IsStatusConditionTrue(placement.Status.Conditions, removalbudget.Condition),
		Selected: append([]string{}, slices.Sorted(maps.Keys(selected))...), Removal: removal(placement.Status.Conditions),
		Staying: a.recorded(placement.Status.Conditions),
	}
}

// recorded returns the clusters that the record of the removal budget in conditions says to be held.
func (a *agreement) recorded(conditions []metav1.Condition) []string {
	condition := meta.FindStatusCondition(conditions, removalbudget.MemoryCondition)
	if condition == nil {
		return nil
	}
	var record struct {
		Held []struct{ Clusters []string }
	}
	_, text, _ := strings.Cut(condition.Message, ": ")
	a.must(json.Unmarshal([]byte(text), &record))
	var names []string
	for _, held := range record.Held {
		names = append(names, held.Clusters...)
	}
	slices.Sort(names)
	return names
}

// staying returns the clusters with the verdict Held.
func staying(clusters []explain.ClusterReport) []string {
	var names []string
	for i := range clusters {
		if clusters[i].Verdict == document.VerdictHeld {
			names = append(names, clusters[i].Name)
		}
	}
	return names
}

// everybody may do everything.
var everybody debug.Access = authorizerfactory.NewAlwaysAllowAuthorizer()

// evaluated is what the debug endpoint of a process says: of the placement as it is, or of the body that is sent.
func (a *agreement) evaluated(view *View, body []byte) outcome {
	method, target := http.MethodGet, debug.Path+"ns/p"
	if body != nil {
		method, target = http.MethodPost, debug.Path
	}
	ctx := request.WithUser(a.Context(), &user.DefaultInfo{Name: "ada"})
	recorder := httptest.NewRecorder()
	debug.New(view, everybody, placementAdmission, a.clock.Now).
		ServeHTTP(recorder, httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(string(body))))
	var answer debug.Response

	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || recorder.Code != http.StatusOK {
		a.Fatalf("code %d: %s", recorder.Code, recorder.Body)
	}
	slices.Sort(answer.Selected)
	return outcome{
		Held: answer.Stalled, Selected: append([]string{}, answer.Selected...), Removal: removal(answer.Conditions),
		Staying: staying(answer.Verdicts),
		Unknown: slices.ContainsFunc(answer.Warnings, isUnknown),
	}
}

func isUnknown(text string) bool { return strings.Contains(text, "the hub may hold what leaves") }

// explained is what placement explain, and placement simulate without changes, say of a world.
func (a *agreement) explained(world *explain.State) outcome {
	evaluation := world.Evaluate(a.clock.Now(), nil)[0]
	report, explainer := world.Explain(evaluation, false), counterfactual.NewExplainer(evaluation)
	slices.Sort(report.Selected)
	for _, cluster := range report.Clusters {
		if explained, known := explainer.Cluster(cluster.Name); !known || explained.Verdict != cluster.Verdict || explained.Reason != cluster.Reason {
			a.Errorf("%s is explained as %+v, and reported as %+v", cluster.Name, explained, cluster)
		}
	}
	return outcome{
		Held: report.Stalled, Selected: append([]string{}, report.Selected...), Removal: removal(report.Conditions),
		Staying: staying(report.Clusters),
		Unknown: slices.ContainsFunc(report.Warnings, isUnknown),
	}
}

// compared is what a difference says, which has no conditions.
func compared(difference explain.Difference) outcome {
	selected := append([]string{}, difference.Kept...)
	for _, gain := range difference.Gained {
		selected = append(selected, gain.Cluster)
	}
	slices.Sort(selected)
	return outcome{Held: difference.Stalled != "", Selected: selected, Unknown: slices.ContainsFunc(difference.Notes, isUnknown)}
}

// simulated is what placement simulate says of a change from one world to another.
func (a *agreement) simulated(before, after *explain.State) outcome {
	whatIf := explain.NewWhatIf(before, after, nil, a.clock.Now())
	switch {
	case len(whatIf.Stalled) > 0:
		held := a.written()
		return outcome{Held: true, Selected: held.Selected}
	case len(whatIf.Placements) > 0:
		return compared(whatIf.Placements[0])
	default:
		return outcome{Selected: a.written().Selected}
	}
}

// diffed is what placement diff says of a file.
func (a *agreement) diffed(hub *explain.State, manifest []byte) outcome {
	crds, err := definitions()
	a.must(err)
	reader, err := statefile.NewChangeReader(crds, statefile.Namespace{})
	a.must(err)
	reader.Read("p.json", manifest)
	after, _, err := reader.Apply(hub, nil)
	a.must(err)
	return compared(explain.Diff(hub, after, nil, a.clock.Now()).Placements[0])
}

// applyManifest applies a file to the hub.
func (a *agreement) applyManifest(manifest []byte) {
	placement := a.placement()
	changed := &clusterv1beta1.Placement{}
	a.must(json.Unmarshal(manifest, changed))
	placement.Annotations, placement.Spec = changed.Annotations, changed.Spec
	a.apply(placement)
}
