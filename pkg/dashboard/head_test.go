// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// The head of a Placement has its state, how many clusters it has and wants, who left and came last, and who owns it.
func TestTheHeadOfAPlacement(t *testing.T) {
	changed := func(name, reason, message string, at time.Time) *corev1.Event {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Reason: reason, Message: message,
			InvolvedObject: corev1.ObjectReference{Kind: "Placement", Namespace: "team-a", Name: "web"}, EventTime: metav1.NewMicroTime(at),
		}
	}
	objects := append(world(),
		changed("web.1", "ClustersChanged", "lost us1 (taint gpu), gained eu1 (rank 1, score 5)", now),
		changed("web.2", "ClustersChanged", "gained us1 (rank 1, score 0)", now.Add(-time.Hour)),
		changed("web.3", "Other", "something else", now.Add(time.Hour)),
	)
	objects[0].SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": "shop:cluster.open-cluster-management.io/Placement:team-a/web"})
	text := as(t, newPages(newTestHub(objects...)), "jane", http.MethodGet, "/placements/team-a/web", "").Body.String()
	for _, want := range []string{
		`<span class="state good"><bdi>Satisfied</bdi></span>`, `<dt>Selected</dt><dd><bdi>1 of all</bdi>`,
		"<dt>Last change</dt><dd><bdi>lost us1 (taint gpu), gained eu1 (rank 1, score 5)</bdi>, <time datetime=\"2026-01-31T12:00:00Z\">",
		"<dt>Owner</dt><dd><bdi>Argo CD application shop</bdi>",
		`<dt>Since</dt><dd><time datetime="2026-01-31T12:00:00Z">`,
		`<li><a href="/placements" aria-current="page">Placements</a></li>`,
		`<li><a href="/placements?namespace=team-a"><bdi>team-a</bdi></a></li>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the head lacks %q: %s", want, text)
		}
	}
	if strings.Contains(text, "something else") {
		t.Error("an Event about something else is the last change")
	}
}

// The last change is the last row of the history, or the last Event where no history has one: after Events have expired, and for first decisions.
func TestTheLastChange(t *testing.T) {
	event := func(name, reason, message string, at time.Time, api string) client.Object {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Reason: reason, Message: message, EventTime: metav1.NewMicroTime(at),
			InvolvedObject: corev1.ObjectReference{APIVersion: api, Kind: "Placement", Namespace: "team-a", Name: "web"},
		}
	}
	const v1beta1 = "cluster.open-cluster-management.io/v1beta1"
	created := event("web.1", "DecisionCreate", "Decision web-decision-1 is created", now, v1beta1)
	changed := event("web.2", "ClustersChanged", "gained eu1 (rank 1)", now.Add(-time.Hour), v1beta1)
	other := event("web.3", "ClustersChanged", "gained us1 (rank 1)", now, "other.example/v1")
	refused := func(*endpoint.Question) (*movelist.List, error) { return nil, &access.RefusalError{User: "jane"} }
	for _, tc := range []struct {
		reason string
		events []client.Object
		moves  []history.Move
		hidden bool
		want   string
	}{
		{
			"a row", []client.Object{changed}, []history.Move{moveOf("web", 3, nil, []string{"eu0"}), moveOf("web", 2, nil, []string{"eu2"})}, false,
			"gained eu2",
		},
		{
			"a row of another Placement", []client.Object{changed}, []history.Move{moveOf("api", 2, nil, []string{"eu2"})}, false,
			"gained eu1 (rank 1)",
		},
		{"a history that the user may not read", []client.Object{changed}, nil, true, "gained eu1 (rank 1)"},
		{"first decisions", []client.Object{created, other}, nil, false, "Decision web-decision-1 is created"},
		{"a change that says more", []client.Object{created, changed}, nil, false, "gained eu1 (rank 1)"},
		{"nothing", []client.Object{other}, nil, false, "none in the history and the Events that you may read"},
	} {
		hub := newTestHub(append(world(), tc.events...)...)
		hub.remembers(tc.moves...)
		if tc.hidden {
			hub.happened = refused
		}
		_, text := shownAs(t, newPages(hub), placementPath)
		if want := "<dt>Last change</dt><dd><bdi>" + tc.want; !strings.Contains(text, want) {
			t.Errorf("%s: the head lacks %q: %s", tc.reason, want, text)
		}
	}
}

// A page is made again some seconds after its Placement has changed, because rows of the history and Events come later. One that is opened later is
// made once.
func TestTheLastChangeIsReadAgainAfterAChange(t *testing.T) {
	key := inventory.NewPlacementKey(inventory.V1beta1, "team-a", "web")
	hub := newTestHub(world()...)
	changes := newLastChanges()
	for _, tc := range []struct {
		after, changed time.Duration
		want           time.Duration
	}{
		{0, -time.Minute, 0},
		{time.Second, time.Second, 5 * time.Second},
		{12 * time.Second, time.Second, 0},
		{13 * time.Second, 13 * time.Second, 17 * time.Second},
		{20 * time.Second, 13 * time.Second, 25 * time.Second},
		{24 * time.Second, 13 * time.Second, 0},
	} {
		hub.versions = map[inventory.Key]uint64{key: uint64(now.Add(tc.changed).UnixNano())}
		v := &visit{hub: hub, caller: &user.DefaultInfo{Name: "jane"}, now: now.Add(tc.after)}
		last := changes.of(t.Context(), v, named{api.V1beta1, "team-a", "web"})
		want := time.Time{}
		if tc.want > 0 {
			want = now.Add(tc.want)
		}
		if got := last.until(v.now); !got.Equal(want) {
			t.Errorf("after %s: until %s, want %s", tc.after, got, want)
		}
	}
}

// The last change is read once in some seconds, and for each user by their own rights.
func TestTheLastChangeIsKeptForAUser(t *testing.T) {
	hub, at := newTestHub(world()...), now
	pages := New(hub, NewTokenGate(users{}), func() time.Time { return at })
	shown := func(name string) bool {
		return strings.Contains(as(t, pages, name, http.MethodGet, "/placements/team-a/web", "").Body.String(), "gained eu1")
	}
	if shown("jane") {
		t.Fatal("there is a change before any Event")
	}
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web.1"}, Reason: "ClustersChanged", Message: "gained eu1 (rank 1, score 0)",
		InvolvedObject: corev1.ObjectReference{Kind: "Placement", Namespace: "team-a", Name: "web"}, EventTime: metav1.NewMicroTime(now),
	}
	if err := hub.Create(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	if shown("jane") || !shown("ada") {
		t.Error("the last change is read again at once, or what one user has seen is shown to another")
	}
	for i := range changesKept - 2 { // Many other Placements are visited; those of jane and ada have room beside them.
		pages.changes.kept.Add("eve", changeKey{"eve", strconv.Itoa(i)}, lastChange{read: at})
	}
	if shown("jane") || pages.changes.kept.Len() != changesKept {
		t.Errorf("%d other changes have replaced that of jane", pages.changes.kept.Len())
	}
	pages.changes.kept.Add("eve", changeKey{"eve", "one more"}, lastChange{read: at})
	if shown("jane") || pages.changes.kept.Len() != changesKept {
		t.Error("one more change has replaced one that was just asked for")
	}
	if at = now.Add(changeKept); !shown("jane") {
		t.Error("the last change is not read again after some seconds")
	}
}

// A condition has the colour of what it means.
func TestConditionsHaveTheColourOfTheirMeaning(t *testing.T) {
	for _, tc := range []struct {
		condition string
		status    metav1.ConditionStatus
		want      document.Tone
	}{
		{placement.ConditionMisconfigured, metav1.ConditionFalse, document.Good},
		{placement.ConditionMisconfigured, metav1.ConditionTrue, document.Bad},
		{placement.ConditionSatisfied, metav1.ConditionTrue, document.Good},
		{placement.ConditionSatisfied, metav1.ConditionFalse, document.Bad},
		{placement.ConditionSatisfied, metav1.ConditionUnknown, document.Fair},
		{removalbudget.Condition, metav1.ConditionTrue, document.Fair},
		{removalbudget.Condition, metav1.ConditionFalse, document.Good},
		{placement.ConditionSpreadSatisfied, metav1.ConditionFalse, document.Fair},
		{placement.ConditionSpreadSatisfied, metav1.ConditionTrue, document.Good},
		{removalbudget.RecordCondition, metav1.ConditionTrue, document.Plain},
		{removalbudget.MemoryCondition, metav1.ConditionTrue, document.Plain},
	} {
		if got := conditionTone(metav1.Condition{Type: tc.condition, Status: tc.status}); got != tc.want {
			t.Errorf("%s=%s is %q, want %q", tc.condition, tc.status, got, tc.want)
		}
	}
}

// The colour of a condition of a cluster depends on what its type means. A type that the hub does not know has no colour.
func TestConditionsOfClustersHaveTheColourOfTheirMeaning(t *testing.T) {
	for _, tc := range []struct {
		condition string
		status    metav1.ConditionStatus
		want      document.Tone
	}{
		{clusterv1.ManagedClusterConditionHubAccepted, metav1.ConditionTrue, document.Good},
		{clusterv1.ManagedClusterConditionHubDenied, metav1.ConditionTrue, document.Bad},
		{clusterv1.ManagedClusterConditionAvailable, metav1.ConditionFalse, document.Bad},
		{clusterv1.ManagedClusterConditionAvailable, metav1.ConditionUnknown, document.Fair},
		{clusterrequest.ConditionClusterGone, metav1.ConditionTrue, document.Bad},
		{"Maintenance", metav1.ConditionTrue, document.Plain},
	} {
		told := (&clusterReport{Conditions: []metav1.Condition{{Type: tc.condition, Status: tc.status, Reason: "Any"}}}).Told()
		if got := told[0].Tone; got != tc.want {
			t.Errorf("%s=%s is %q, want %q", tc.condition, tc.status, got, tc.want)
		}
		if runbook := told[0].Runbook; (runbook != "") != (tc.condition == clusterrequest.ConditionClusterGone ||
			tc.condition == clusterv1.ManagedClusterConditionAvailable) {
			t.Errorf("the runbook of %s is %q", tc.condition, runbook)
		}
	}
}

// The records of the removal budget are sentences, and no JSON.
func TestTheRecordsOfTheRemovalBudgetAreSentences(t *testing.T) {
	const removals = "Clusters that left the decisions, and count as removed for 10 minutes: " +
		`[{"time":"2026-01-31T11:55:00Z","clusters":["eu2","us3"]}]`
	const memory = "The hub reads this record when it checks the next removal: "
	const keeps = "The hub keeps this for the next check of the removal budget."
	for _, tc := range []struct{ condition, message, want string }{
		{
			removalbudget.RecordCondition, removals,
			"In the last 10 minutes the decisions have lost eu2, us3, the last of them at 11:55:00 UTC. The removal budget counts them.",
		},
		{removalbudget.RecordCondition, "by hand", "No cluster has left in the last 10 minutes."},
		{
			removalbudget.MemoryCondition, memory + `{"applied":3,"held":[{"generation":2,"lost":2,"of":3,"clusters":["us4","eu1"],"unnamed":7}],` +
				`"joined":[{"time":"2026-01-31T11:55:00Z","clusters":["us5"]}],"joinedTo":3}`,
			keeps + " Held clusters: eu1, us4. Held clusters without a name here: 7. Clusters that have joined lately: us5. The decisions are " +
				"those of generation 3 of the Placement.",
		},
		{removalbudget.MemoryCondition, memory + "{", keeps},
		{"Other", `{"json":true}`, `{"json":true}`},
	} {
		got := conditionsOf(&visit{now: now}, []metav1.Condition{{Type: tc.condition, Status: metav1.ConditionTrue, Message: tc.message}})
		if got[0].Message != tc.want {
			t.Errorf("%s: the message is %q, want %q", tc.condition, got[0].Message, tc.want)
		}
	}
}

// The head of a cluster has its sets, taints and age as fields, and its labels and claims as chips.
func TestTheHeadOfACluster(t *testing.T) {
	object := cluster("eu9", "eu")
	object.CreationTimestamp = metav1.NewTime(now.Add(-24 * time.Hour))
	object.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Value: "a100", Effect: clusterv1.TaintEffectNoSelect}}
	object.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "id", Value: "arn:aws:eks/9"}}
	text := as(t, newPages(newTestHub(append(world(), object)...)), "jane", http.MethodGet, "/clusters/eu9", "").Body.String()
	for _, want := range []string{
		`<dt>Sets</dt><dd><a class="chip plain" href="/clusters?set=prod"><bdi>prod</bdi></a>`,
		`<dt>Taints</dt><dd><span class="chip fair"><bdi>gpu=a100:NoSelect</bdi></span>`,
		`<dt>Created</dt><dd><time datetime="2026-01-30T12:00:00Z">2026-01-30 12:00 UTC</time>`,
		`href="/clusters?label=region%3Deu"><bdi>region=eu</bdi></a>`, `<bdi>id=arn:aws:eks/9</bdi>`,
		`<span class="state bad"><bdi>Unavailable</bdi>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the head lacks %q: %s", want, text)
		}
	}
}

func TestOwners(t *testing.T) {
	early, late := metav1.NewTime(now.Add(-time.Hour)), metav1.NewTime(now)
	for _, tc := range []struct {
		object metav1.ObjectMeta
		want   string
	}{
		{metav1.ObjectMeta{}, ""},
		{metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "App", Name: "shop"}}}, "App shop"},
		{metav1.ObjectMeta{Labels: map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps"}}, "Flux Kustomization apps"},
		{metav1.ObjectMeta{Annotations: map[string]string{"meta.helm.sh/release-name": "web"}}, "Helm release web"},
		{metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kubectl", Time: &late}, {Manager: "old", Time: &early}, {Manager: "hub", Subresource: "status", Time: &late},
		}}, "last written by kubectl"},
	} {
		if got := ownerOf(&tc.object); got != tc.want {
			t.Errorf("ownerOf(%v) = %q, want %q", tc.object, got, tc.want)
		}
	}
}

// The pages of requests and workloads begin with the state, the owner and the age, too.
func TestTheHeadsOfOtherObjects(t *testing.T) {
	created := metav1.NewTime(now.Add(-time.Hour))
	request := &openmcpv1alpha1.ClusterRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "ci", Labels: map[string]string{"app": "ci"}, CreationTimestamp: created},
	}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{"build"}
	request.Status.Status, request.Status.Message = openmcpv1alpha1.RequestDenied, "Purpose build does not exist"
	request.Status.LastReconcileTime = new(metav1.NewTime(now.Add(-30 * time.Minute)))
	pages := newPages(&deliveringHub{testHub: newTestHub(append(world(), request)...)})
	text := as(t, pages, "jane", http.MethodGet, "/requests/team-a/ci", "").Body.String()
	for _, want := range []string{
		`<span class="state bad"><bdi>Denied</bdi></span> <bdi>PurposeNotFound: `,
		`<span class="chip plain"><bdi>app=ci</bdi></span>`, `<dt>Since</dt><dd><time datetime="2026-01-31T11:30:00Z">`,
		`<dt>Created</dt><dd><time datetime="2026-01-31T11:00:00Z">`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the head lacks %q: %s", want, text)
		}
	}
	if strings.Count(text, "Denied") != 1 || strings.Count(text, "PurposeNotFound") != 1 {
		t.Errorf("the page says the denial more than once: %s", text)
	}
	list := as(t, pages, "jane", http.MethodGet, "/requests?state=Denied", "").Body.String()
	if !strings.Contains(list, "1–1 of 1 ClusterRequest") || !strings.Contains(list, "Purpose build does not exist") {
		t.Errorf("the list lacks the request: %s", list)
	}
}

// The state of a workload says whether its Pods may run, the worst first.
func TestStatesOfWorkloads(t *testing.T) {
	fits, none := &pods.Nodes{Total: 2, Fit: []string{"n1"}}, &pods.Nodes{Total: 2}
	for _, tc := range []struct {
		report pods.Report
		want   item
	}{
		{pods.Report{}, item{}},
		{pods.Report{Nodes: fits}, item{State: workloadFits, Tone: document.Good}},
		{pods.Report{Nodes: fits, Drift: []string{"nodeSelector"}}, item{State: workloadDrifted, Tone: document.Fair}},
		{pods.Report{Nodes: none, Drift: []string{"nodeSelector"}}, item{State: workloadNoNode, Tone: document.Bad}},
		{pods.Report{Nodes: fits, Class: &pods.Class{Denial: "no class"}}, item{State: workloadRefused, Tone: document.Bad}},
	} {
		found := counterfactual.WorkloadExplanations{Reports: pods.Reports{Workloads: []pods.Report{tc.report}}}
		for _, got := range []item{workloadState(found), workloadState(&found)} {
			if got.State != tc.want.State || got.Tone != tc.want.Tone {
				t.Errorf("%+v: %s %s, want %s %s", tc.report, got.State, got.Tone, tc.want.State, tc.want.Tone)
			}
		}
	}
}
