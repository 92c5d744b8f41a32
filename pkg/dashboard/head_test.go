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

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/placement"
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
		"<dt>Owner</dt><dd><bdi>Argo CD application shop</bdi>", `<li><a href="/placements?namespace=team-a"><bdi>team-a</bdi></a></li>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the head lacks %q: %s", want, text)
		}
	}
	if strings.Contains(text, "something else") {
		t.Error("an Event about something else is the last change")
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

// RecentRemovals is a sentence, and no JSON.
func TestRecentRemovalsAreASentence(t *testing.T) {
	record := metav1.Condition{
		Type: removalbudget.RecordCondition, Status: metav1.ConditionTrue, Reason: removalbudget.ReasonClustersRemoved,
		Message: `Clusters that left the decisions, and count as removed for 10 minutes: [{"time":"2026-01-31T11:55:00Z","clusters":["eu2","us3"]}]`,
	}
	got := conditionsOf(&visit{now: now}, []metav1.Condition{record})
	const want = "In the last 10 minutes the decisions have lost eu2, us3, the last of them at 11:55:00 UTC. The removal budget counts them."
	if got[0].Message != want {
		t.Errorf("the message is %q, want %q", got[0].Message, want)
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
	request.Status.Status, request.Status.Message = openmcpv1alpha1.RequestDenied, "no profile"
	pages := newPages(newTestHub(append(world(), request)...))
	made := &page{}
	v := &visit{hub: newTestHub(append(world(), request)...), caller: &user.DefaultInfo{Name: "jane"}, now: now}
	v.addHead(t.Context(), made, requestKind, "team-a", "ci")
	v.addHead(t.Context(), made, requestKind, "team-a", "none")
	if len(made.Fragments) != 1 {
		t.Fatalf("the page has %d parts", len(made.Fragments))
	}
	text, err := render(made.Fragments[0].Template, made.Fragments[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<span class="state bad"><bdi>Denied</bdi></span> <bdi>no profile</bdi>`, `<span class="chip plain"><bdi>app=ci</bdi></span>`,
		`<dt>Created</dt><dd><time datetime="2026-01-31T11:00:00Z">`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the head lacks %q: %s", want, text)
		}
	}
	list := as(t, pages, "jane", http.MethodGet, "/requests?state=Denied", "").Body.String()
	if !strings.Contains(list, "1–1 of 1 ClusterRequest") || !strings.Contains(list, "no profile") {
		t.Errorf("the list lacks the request: %s", list)
	}
}
