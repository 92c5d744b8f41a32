// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

func clusterOf(t *testing.T, report Report, name string) Cluster {
	t.Helper()
	at := slices.IndexFunc(report.Clusters, func(cluster Cluster) bool { return cluster.Name == name })
	if at < 0 {
		t.Fatalf("%s is not among %+v", name, report.Clusters)
	}
	return report.Clusters[at]
}

func TestReportOfSelected(t *testing.T) {
	w := newWorld(t)
	object := w.add(configMap("x", inEurope))
	w.deliver(object, 0, "eu1", "us1")

	report := w.report("ConfigMap/team-a/x")
	want := []Cluster{
		{Name: "eu1", Verdict: "Selected", Reason: "matches location in (europe)", Delivered: true},
		{Name: "eu2", Verdict: "Selected", Reason: "matches location in (europe)", Pending: PendingCreate},
		{
			Name: "us1", Verdict: "Predicate", Reason: "predicate 1 label location In [europe]: is usa",
			Clause: "predicate 1 label location In [europe]", Delivered: true, Pending: PendingWithdraw,
		},
	}
	if diff := cmp.Diff(want, report.Clusters); diff != "" || report.State != "Delivering" || report.OutOfScope != 1 {
		t.Errorf("state %s, %d out of scope, clusters: %s", report.State, report.OutOfScope, diff)
	}
}

// federated-selector F18.
func TestReportOfConflict(t *testing.T) {
	w := newWorld(t)
	work := w.deliver(w.add(configMap("x", inEurope)), 0, "eu1", "eu2")[0]
	work.Status.Conditions = []metav1.Condition{{Type: workv1.WorkApplied, Status: metav1.ConditionFalse}}
	work.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{{
		ResourceMeta: workv1.ManifestResourceMeta{Resource: "configmaps", Namespace: "team-a", Name: "x"},
		Conditions:   []metav1.Condition{{Type: workv1.ManifestApplied, Status: metav1.ConditionFalse, Message: "conflict"}},
	}}

	cluster := clusterOf(t, w.report("ConfigMap/team-a/x"), "eu1")
	if cluster.Applied != "False" || cluster.Problem != "configmaps team-a/x: conflict" {
		t.Errorf("%+v", cluster)
	}
}

// federated-selector F20.
func TestReportOfDeletion(t *testing.T) {
	w := newWorld(t)
	object := w.add(configMap("x", inEurope))
	now := metav1.NewTime(epoch)
	w.deliver(object, 0, "eu2")[0].DeletionTimestamp = &now
	object.SetDeletionTimestamp(&now)
	report := w.report("ConfigMap/team-a/x")
	if report.State != "Deleting" || report.Message != "waiting for clusters eu2 to remove team-a/x" {
		t.Errorf("%s: %s", report.State, report.Message)
	}

	if got := clusterOf(t, report, "eu2").Pending; got != PendingRemove {
		t.Errorf("eu2 is to %q", got)
	}
}

// federated-selector F33.
func TestReportOfDependencies(t *testing.T) {
	w := newWorld(t, configMap("settings", inEurope), deployment(inUSA))

	want := []Missing{{Kind: "ConfigMap", Name: "settings", Clusters: []string{"us1"}}}
	if diff := cmp.Diff(want, w.report("Deployment.apps/team-a/web").Missing); diff != "" {
		t.Error(diff)
	}
	w = newWorld(t, configMap("settings", inEurope), deployment(inUSA+`, federation.kubernetes.io/propagate-dependencies: "true"`))
	if missing := w.report("Deployment.apps/team-a/web").Missing; len(missing) > 0 {
		t.Errorf("missing: %v", missing)
	}

	report := w.report("ConfigMap/team-a/settings")
	if diff := cmp.Diff([]string{"us1"}, report.Propagated); diff != "" {
		t.Error(diff)
	}
	if got := clusterOf(t, report, "us1"); got.Verdict != "Selected" || got.Reason != "needed by Deployment.apps/team-a/web" {
		t.Errorf("%+v", got)
	}
}

// federated-selector 3.2: a dependency stays where the removal budget keeps its user.
func TestReportOfDependencyOfHeldUser(t *testing.T) {
	w := newWorld(t, configMap("settings", inEurope))
	user := w.add(deployment(inUSA + `, federation.kubernetes.io/propagate-dependencies: "true"` +
		`, placement-hub.open-cluster-management.io/max-removal-percent: "0"`))
	w.deliver(user, 0, "eu3", "us1")
	w.cluster("eu3", "asia")
	if got := clusterOf(t, w.report("ConfigMap/team-a/settings"), "eu3"); got.Verdict != "Selected" {
		t.Errorf("%+v", got)
	}
}

// A dependency whose kind may not be read is not called missing.
func TestReportOfUnreadKind(t *testing.T) {
	w := newWorld(t, deployment(inUSA))
	w.objects.KindsUnread = []string{"ConfigMap"}
	if missing := w.report("Deployment.apps/team-a/web").Missing; len(missing) > 0 {
		t.Errorf("missing: %v", missing)
	}
}

// federated-selector F37.
func TestReportWarnsOfMergedCopies(t *testing.T) {
	w := newWorld(t)
	work := w.deliver(w.add(configMap("x", inEurope)), 0, "eu1")[0]

	warns := func() bool {
		return slices.ContainsFunc(w.report("ConfigMap/team-a/x").Notes, func(note string) bool { return strings.Contains(note, "merged") })
	}
	if warns() {
		t.Error("a warning before anything was applied")
	}
	work.Status.Conditions = []metav1.Condition{{Type: workv1.WorkApplied, Status: metav1.ConditionTrue}}
	if !warns() {
		t.Error("no warning")
	}
}

// federated-selector F38.
func TestReportByPlacement(t *testing.T) {
	const byPlacement = "placement.open-cluster-management.io/placement: p"
	w := newWorld(t)
	w.deliver(w.add(configMap("x", byPlacement)), 0, "us1")
	w.decisions = map[string]federation.Decisions{"p": federation.DecisionsOf(nil, nil)}

	report := w.report("ConfigMap/team-a/x")
	if report.State != "Held" || !strings.Contains(report.Message, "the Placement p") || clusterOf(t, report, "us1").Pending != "" {
		t.Errorf("%+v", report)
	}

	// Issue 26, P9: a misspelt name.
	w.decisions["p"] = federation.Decisions{Problem: "does not exist", Similar: "pp"}

	report = w.report("ConfigMap/team-a/x")
	if report.Reason != federation.ReasonClusterSelectorInvalid || report.Target != "Placement p" ||
		!strings.Contains(report.Message, "does not exist in namespace team-a; did you mean pp? Correct the annotation") {
		t.Errorf("%+v", report)
	}
	w.decisions["p"] = federation.Decisions{Clusters: []string{"eu1"}}

	report = w.report("ConfigMap/team-a/x")
	want := []Cluster{
		{Name: "eu1", Verdict: "Selected", Reason: "decision of Placement p", Pending: PendingCreate},
		{
			Name: "us1", Reason: "no decision of Placement p", Clause: "no decision of Placement p", Delivered: true, Pending: PendingWithdraw,
		},
	}
	if diff := cmp.Diff(want, report.Clusters); diff != "" {
		t.Error(diff)
	}

	w = newWorld(t, configMap("x", byPlacement+", "+inEurope))
	if report := w.report("ConfigMap/team-a/x"); report.Reason != federation.ReasonClusterSelectorInvalid || report.Target != "" {
		t.Errorf("%+v", report)
	}
}

// federated-selector F40.
func TestReportOfHeldRemoval(t *testing.T) {
	w := newWorld(t)
	w.deliver(w.add(configMap("x", inUSA)), 0, "eu1", "eu2", "us1")
	w.objects.Limit.Percent = new(30)

	report := w.report("ConfigMap/team-a/x")
	if !strings.Contains(report.RemovalHeld, "exceeds 30%") || clusterOf(t, report, "eu1").Pending != PendingHold {
		t.Errorf("%+v", report)
	}
	const release = "stays until the removal budget permits its removal, or the object has the annotation " +
		removalbudget.ReleaseAnnotation + "=ddc6c1c0b6"
	held := func(name string) Cluster {
		return Cluster{
			Name: name, Verdict: "Held", Reason: "predicate 1 label location In [usa]: is europe", Clause: "predicate 1 label location In [usa]",
			Hold: &document.Hold{Verdict: "Predicate", Release: release}, Delivered: true, Pending: PendingHold,
		}
	}
	want := []Cluster{
		held("eu1"), held("eu2"),
		{Name: "us1", Verdict: "Selected", Reason: "matches location in (usa)", Delivered: true},
	}
	if diff := cmp.Diff(want, report.Clusters); diff != "" {
		t.Error(diff)
	}
	const row = "would leave: predicate 1 label location In [usa]: is europe; "
	if text := report.row(&report.Clusters[0], document.Options{}).Cells.String(); !strings.Contains(text, row+release) {
		t.Error(text)
	}
	w.objects.Limit.Percent = nil

	report = w.report("ConfigMap/team-a/x")
	if report.RemovalHeld != "" || !slices.Contains(report.Notes, unknownBudget) {
		t.Errorf("%+v", report)
	}
}

// docs/spec/differences.md B17: the report of an object whose last cluster has left the scope names the flags of the hub that decide, as does the
// difference, in which the cluster is held.
func TestB17TheReportOfTheLastCluster(t *testing.T) {
	const note = "the hub is taken to run with --last-cluster=keep and --lost-scope-hold=10m0s; give these flags here too if they have other values"
	w := newWorld(t)
	w.deliver(w.add(configMap("x", inUSA)), 0, "us1")
	w.objects.Limit.Percent = new(50)
	differences := w.differences(func() { w.inventory.DeleteBinding("team-a", "members") })
	report := w.report("ConfigMap/team-a/x")
	if !strings.Contains(report.RemovalHeld, "holds the works of the last clusters for 10m0s at most") || !slices.Contains(report.Notes, note) ||
		clusterOf(t, report, "us1").Pending != PendingHold {
		t.Errorf("%+v", report)
	}
	if d := differences[0]; len(d.Lost) != 0 || len(d.Held) != 1 || !slices.Contains(d.Notes, note) {
		t.Errorf("%+v", d)
	}

	w.objects.Limit.LastCluster = new(removalbudget.UpstreamLastCluster)
	if report := w.report("ConfigMap/team-a/x"); report.RemovalHeld != "" || clusterOf(t, report, "us1").Pending != PendingWithdraw {
		t.Errorf("%+v", report)
	}
}

// federated-selector F39.
func TestReportOfTooLarge(t *testing.T) {
	w := newWorld(t)
	w.add(configMap("x", inEurope)).Object["data"] = map[string]any{"a": strings.Repeat("a", federation.MaxPayload)}
	report := w.report("ConfigMap/team-a/x")
	if report.Reason != federation.ReasonTooLarge || !strings.Contains(report.Message, "exceeds the limit") {
		t.Errorf("%s: %s", report.Reason, report.Message)
	}
}

func TestReportOfReplicas(t *testing.T) {
	w := newWorld(t)
	w.deliver(w.add(deployment(inEurope)), 5, "eu1")[0].Status.ResourceStatus.Manifests = []workv1.ManifestCondition{{
		StatusFeedbacks: workv1.StatusFeedbackResult{Values: []workv1.FeedbackValue{{
			Name: federation.ReadyReplicas, Value: workv1.FieldValue{Type: workv1.Integer, Integer: new(int64(4))},
		}}},
	}}

	report := w.report("Deployment.apps/team-a/web")
	if diff := cmp.Diff(&Replicas{Total: 9, Wanted: 9, Ready: 4}, report.Replicas); diff != "" {
		t.Error(diff)
	}
	eu1, eu2 := clusterOf(t, report, "eu1"), clusterOf(t, report, "eu2")
	if *eu1.Ready != 4 || *eu1.Wanted+*eu2.Wanted != 9 {
		t.Errorf("eu1 %+v, eu2 %+v", eu1, eu2)
	}
}

// A hub of hubs: the report has how many clusters each hub has selected for the Placement that it got, and where to ask why. The copies lack the
// annotation that keeps the hub of hubs from evaluating it.
func TestReportOfPlacement(t *testing.T) {
	const object = `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement, metadata: {namespace: team-a, name: p,
		annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: "true"}}, spec: {numberOfClusters: 3}}`
	w := newWorld(t)
	w.objects.Kinds = append(federation.DefaultKinds(), federation.FederatedKind{
		GroupVersionKind: schema.GroupVersionKind{Group: "cluster.open-cluster-management.io", Version: "v1beta1", Kind: "Placement"},
		Resource:         "placements",
	})
	works := w.deliver(w.add(object), 0, "eu1", "us1")
	works[0].Status.ResourceStatus.Manifests = []workv1.ManifestCondition{{
		StatusFeedbacks: workv1.StatusFeedbackResult{Values: []workv1.FeedbackValue{{
			Name: federation.SelectedClusters, Value: workv1.FieldValue{Type: workv1.Integer, Integer: new(int64(3))},
		}}},
	}}
	for _, manifest := range works[0].Spec.Workload.Manifests {
		if strings.Contains(string(manifest.Raw), "scheduling-disable") {
			t.Errorf("the copy is %s", manifest.Raw)
		}
	}

	report := w.report("Placement.cluster.open-cluster-management.io/team-a/p")
	if got, want := report.headline().String(), "3 clusters selected, all in scope, applied in 0; 3 clusters selected by these hubs"; got != want {
		t.Errorf("the headline is %q, want %q", got, want)
	}
	if note := "there, placement explain team-a/p says why"; !strings.Contains(strings.Join(report.Notes, "\n"), note) {
		t.Errorf("the notes are %q, want %q", report.Notes, note)
	}
	var cells []string
	for i := range report.Clusters {
		cells = append(cells, report.Clusters[i].Name+" "+report.row(&report.Clusters[i], document.Options{}).Cells[4].Text)
	}
	if diff := cmp.Diff([]string{"eu1 3", "eu2 -", "us1 -"}, cells); diff != "" {
		t.Error(diff)
	}
}

// Replicas that no cluster gets are in the report and on the board, and a cluster without replicas says why.
func TestReportOfUnplacedReplicas(t *testing.T) {
	w := newWorld(t)
	w.add(deployment(inEurope + `, federation.kubernetes.io/deployment-preferences: '{"clusters":{"eu1":{"weight":1,"maxReplicas":2}}}'`))
	report := w.report("Deployment.apps/team-a/web")

	const message = "7 of 9 replicas have no cluster: maxReplicas of eu1; missing preference of eu2; change the preferences, or select more clusters"
	if diff := cmp.Diff(&Replicas{Total: 9, Wanted: 2, Unplaced: 7, UnplacedMessage: message}, report.Replicas); diff != "" {
		t.Error(diff)
	}
	if eu2 := clusterOf(t, report, "eu2"); eu2.WhyNoReplicas != "0 replicas: missing preference" ||
		!strings.Contains(eu2.detail(), eu2.WhyNoReplicas) {
		t.Errorf("%+v", eu2)
	}

	text := fmt.Sprint(report.Section(document.Options{}))
	board := NewBoard([]string{"eu1"}, []Report{report})
	for _, shown := range []string{text, fmt.Sprint(board.Table.Rows[0].Details)} {
		if !strings.Contains(shown, "ReplicasUnplaced") || !strings.Contains(shown, message) {
			t.Errorf("the cause is missing: %s", shown)
		}
	}
}

// A namespace without the label holds what is delivered, and delivers nothing else.
func TestReportOfSuspended(t *testing.T) {
	w := newWorld(t, configMap("z", inEurope))
	w.deliver(w.add(configMap("x", inEurope)), 0, "us1")
	w.objects.Namespaces[0].Labels = nil
	if report := w.report("ConfigMap/team-a/x"); report.State != "Suspended" || clusterOf(t, report, "us1").Pending != "" {
		t.Errorf("%+v", report)
	}
	if report := w.report("ConfigMap/team-a/z"); report.State != "NotDelivered" || len(report.Clusters) > 0 && report.Clusters[0].Pending != "" {
		t.Errorf("%+v", report)
	}

	if !w.objects.TakesPart("team-a") {
		t.Error("the namespace has works")
	}
}

// Works of an object that does not exist are told, unless objects of its kind may be unread.
func TestStrayWorks(t *testing.T) {
	w := newWorld(t)
	w.deliver(w.add(configMap("x", inEurope)), 0, "us1", "eu1")
	w.objects.Objects = nil

	want := []string{"ConfigMap/team-a/x does not exist, and has a ManifestWork in eu1, us1"}
	if diff := cmp.Diff(want, NewEvaluator(&w.objects).Stray()); diff != "" {
		t.Error(diff)
	}
	w.objects.KindsUnread = []string{"ConfigMap"}
	if stray := NewEvaluator(&w.objects).Stray(); len(stray) > 0 {
		t.Errorf("%v", stray)
	}

	w.objects.Kinds = federation.DefaultKinds()[1:]
	want = []string{
		"there are 2 ManifestWorks of objects of the kind ConfigMap, which is not read here: name it with --federated-kinds if the hub delivers it",
	}
	if diff := cmp.Diff(want, NewEvaluator(&w.objects).Stray()); diff != "" {
		t.Error(diff)
	}
}

// U10: without the clusters and the ManifestWorks, an object has no state, unless it is never delivered; the report says what was not read.
func TestU10WrittenReports(t *testing.T) {
	w := newWorld(t, configMap("settings", inEurope), configMap("kube-root-ca.crt", ""), deployment(inUSA))
	w.objects.WorksUnread = true

	states := map[string]string{}
	for _, report := range NewEvaluator(&w.objects).Written() {
		states[report.Object] = report.State
		if !report.WorksUnread {
			t.Errorf("%s does not say that the ManifestWorks were not read", report.Object)
		}
	}

	want := map[string]string{
		"ConfigMap/team-a/settings": "", "Deployment.apps/team-a/web": "", "ConfigMap/team-a/kube-root-ca.crt": "NotDelivered",
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	report := w.report("Deployment.apps/team-a/web")
	if cluster := clusterOf(t, report, "us1"); cluster.Wanted == nil || cluster.Ready != nil || !report.WorksUnread {
		t.Errorf("%+v of %+v; the wanted replicas are known, and the ready ones are not", cluster, report)
	}

	w.objects.Namespaces[0].Labels = nil
	for _, report := range NewEvaluator(&w.objects).Written() {
		if report.State != "NotDelivered" {
			t.Errorf("%s is %q in a Namespace that takes no part", report.Object, report.State)
		}
	}
}

// A selector that no cluster in scope meets says what may be meant, as the webhook does.
func TestReportOfMisspeltSelector(t *testing.T) {
	w := newWorld(t, configMap("x", strings.Replace(inUSA, "usa", "uas", 1)))
	notes := NewReport(w.evaluate()[0], false).Notes
	if text := strings.Join(notes, "\n"); !strings.Contains(text, "no cluster in scope has location=uas; did you mean usa (1 cluster)?") {
		t.Errorf("%q", notes)
	}
}
