// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
)

// deliveringHub is a testHub with the delivery of ConfigMaps, whose lists of ManifestWorks never end if endless is true.
type deliveringHub struct {
	*testHub

	endless bool
}

func (h *deliveringHub) Settings() Settings {
	return Settings{Delivered: federation.DefaultKinds(), Controllers: h.settings.Controllers}
}

// Explain answers about delivered objects as a hub does.
func (h *deliveringHub) Explain(ctx context.Context, caller user.Info, question Question) (document.Source, error) {
	if question.Command == endpoint.CommandHistory {
		return h.testHub.Explain(ctx, caller, question)
	}
	explainer := &answers.Explainer{Hub: tools.Hub{
		Settings: tools.Settings{Delivered: federation.DefaultKinds()}, Client: h.Client, Now: func() time.Time { return now },
	}}
	return explainer.Find(ctx, &question.Question, question.Rows)
}

func (h *deliveringHub) Reader(caller user.Info) client.Client {
	if h.endless {
		return endlessReader{h.Client}
	}
	return h.testHub.Reader(caller)
}

// endlessReader is a client whose lists of ManifestWorks always have one more page.
type endlessReader struct{ client.Client }

func (r endlessReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := r.Client.List(ctx, list, options...)
	if works, is := list.(*workv1.ManifestWorkList); is {
		works.Continue = "more"
	}
	return err
}

// work returns the work of the ConfigMap team-a/NAME on the cluster eu1, with a condition of its agent; empty for none.
func work(t *testing.T, name, condition string, status metav1.ConditionStatus) client.Object {
	t.Helper()
	for _, kind := range federation.DefaultKinds() {
		if kind.Kind != "ConfigMap" {
			continue
		}
		identity := federation.Identity{Kind: kind, NamespacedName: types.NamespacedName{Namespace: "team-a", Name: name}}
		made := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
			Namespace: "eu1", Name: identity.WorkName(),
			Labels:      map[string]string{federation.ManagedLabel: "true", federation.NamespaceLabel: "team-a", federation.NameLabel: name},
			Annotations: map[string]string{federation.ObjectAnnotation: identity.String()},
		}}
		if condition != "" {
			made.Status.Conditions = []metav1.Condition{{Type: condition, Status: status, Message: "said by the agent"}}
		}
		return made
	}
	t.Fatal("ConfigMaps are not delivered")
	return nil
}

// A page says that there are more ManifestWorks than it reads.
func TestDeliveriesAreBounded(t *testing.T) {
	hub := &deliveringHub{testHub: newTestHub(append(world(), work(t, "bad", workv1.WorkApplied, metav1.ConditionFalse))...), endless: true}
	for _, path := range []string{"/", "/objects", "/clusters/eu1"} {
		response := as(t, newPages(hub), "jane", http.MethodGet, path, "")
		if text := response.Body.String(); !strings.Contains(text, "it has read 4000 ManifestWorks") {
			t.Errorf("%s does not say that it is incomplete: status %d, %s", path, response.Code, text)
		}
	}
}

// The page of a cluster has all objects that are delivered to it, and the overview those that an agent could not apply.
func TestDeliveriesToACluster(t *testing.T) {
	objects := append(world(), work(t, "good", workv1.WorkAvailable, metav1.ConditionTrue), work(t, "new", "", ""),
		work(t, "bad", workv1.WorkApplied, metav1.ConditionFalse))
	pages := newPages(&deliveringHub{testHub: newTestHub(objects...)})
	for _, tc := range []struct {
		path      string
		want, not []string
	}{
		{
			path: "/clusters/eu1",
			want: []string{
				"ConfigMap bad on eu1", "NotApplied", "said by the agent", "ConfigMap good on eu1", "Available", "ConfigMap new on eu1", "Delivered",
			},
		},
		{
			path: "/", want: []string{"1 ConfigMap", "team-a/bad", "on eu1: said by the agent"},
			not: []string{"team-a/good", "team-a/new", "ManifestWorks"},
		},
		{path: "/objects", want: []string{"team-a/bad", "on eu1: said by the agent", "1 failed", "team-a/good", "team-a/new", "1–3 of 3 delivered"}},
		{path: "/objects?set=prod", want: []string{"team-a/bad", "1–3 of 3 delivered", `name="set" value="prod"`}},
		{path: "/objects?set=lab", want: []string{"The filters hide 3 delivered objects"}, not: []string{"team-a/bad"}},
		{path: "/objects?set=-", want: []string{"The filters hide 3 delivered objects"}},
		{path: "/objects?state=NotApplied", want: []string{"team-a/bad", "the filters hide 2 more"}, not: []string{"team-a/good", "team-a/new"}},
	} {
		response := as(t, pages, "jane", http.MethodGet, tc.path, "")
		if response.Code != http.StatusOK {
			t.Errorf("%s: status %d: %s", tc.path, response.Code, response.Body)
		}
		for _, want := range tc.want {
			if !strings.Contains(response.Body.String(), want) {
				t.Errorf("%s lacks %q: %s", tc.path, want, response.Body)
			}
		}
		for _, not := range tc.not {
			if strings.Contains(response.Body.String(), not) {
				t.Errorf("%s has %q", tc.path, not)
			}
		}
	}
}

// A cell of the table leads to the page of the object that explains the cluster.
func TestCellsOfDeliveredObjects(t *testing.T) {
	shown := deliveredIn("team-a", []*federated.Report{{
		Namespace: "team-a", Group: "apps", Kind: "Deployment", Name: "web", Object: "Deployment.apps/team-a/web",
		Clusters: []federated.Cluster{{Name: "eu1", Verdict: "Predicate", Reason: "label region In [us]: is eu"}},
	}}, []item{{State: "Delivering"}})
	want := matrixCell{
		State: unasked, Text: "predicate", Clause: "label region In [us]: is eu", Link: "/objects/team-a/Deployment.apps/web?cluster=eu1",
	}
	if got := shown.Rows[0].Cells; len(got) != 1 || got[0] != want {
		t.Errorf("got %v, want %v", got, want)
	}
	held := deliveryCell(&federated.Cluster{
		Name: "us1", Verdict: document.VerdictHeld, Reason: "is us", Pending: federated.PendingHold, Wanted: new(int32(2)),
		Hold: &document.Hold{Verdict: "Predicate", Release: "stays until it is released"},
	})
	if want := (matrixCell{State: fails, Text: "held 2", Clause: "would leave: is us; stays until it is released"}); held != want {
		t.Errorf("got %v, want %v", held, want)
	}
	link := `<td class="none" data-label="eu1"> <a href="/objects/team-a/Deployment.apps/web?cluster=eu1">predicate</a>`
	if text := string(renderCells([]matrixCell{want}, []string{"eu1"})); !strings.Contains(text, link) {
		t.Errorf("%s is not in %s", link, text)
	}
}

// deliveriesOf returns a hub that delivers the ConfigMaps bad, silent, good and new of team-a: the agent says nothing about why silent is not
// available.
func deliveriesOf(t *testing.T, more ...client.Object) *deliveringHub {
	t.Helper()
	silent := work(t, "silent", workv1.WorkAvailable, metav1.ConditionFalse)
	objects := append(world(), work(t, "good", workv1.WorkAvailable, metav1.ConditionTrue), work(t, "new", "", ""), silent,
		work(t, "bad", workv1.WorkApplied, metav1.ConditionFalse),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a", Labels: map[string]string{federation.FederatedLabel: "true"}}})
	for _, each := range objects {
		if one, is := each.(*workv1.ManifestWork); is && len(one.Status.Conditions) > 0 {
			one.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-time.Hour))
			if each == silent {
				one.Status.Conditions[0].Message = ""
			}
		}
	}
	for _, name := range []string{"bad", "silent", "good", "new"} {
		objects = append(objects, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: name, Labels: map[string]string{"app": name},
		}})
	}
	return &deliveringHub{testHub: newTestHub(append(objects, more...)...)}
}

// The list of all delivered objects and that of a namespace have the same states, causes and times.
func TestBothListsOfDeliveredObjectsHaveTheSameWords(t *testing.T) {
	pages := newPages(deliveriesOf(t))
	row := regexp.MustCompile(`<tr><td data-label="Object" class="name"><a href="/objects/team-a/ConfigMap/(\w+)">.*?</tr>`)
	message := regexp.MustCompile(`<td data-label="Message" class="message">.*?</td>`)
	rows := func(path string) map[string]string {
		found := map[string]string{}
		for _, match := range row.FindAllStringSubmatch(as(t, pages, "jane", http.MethodGet, path, "").Body.String(), -1) {
			found[match[1]] = message.ReplaceAllString(match[0], "") // The explanation of a namespace has more to say.
		}
		return found
	}
	all := rows("/objects")
	if len(all) != 4 {
		t.Fatalf("the list of all has %v", all)
	}
	if diff := cmp.Diff(all, rows("/objects?namespace=team-a")); diff != "" {
		t.Errorf("the list of the namespace differs from that of all: %s", diff)
	}
	for path, want := range map[string]string{
		"/objects?namespace=team-a&label=app%3Dgood":                             "good",
		"/objects?namespace=team-a&state=NotApplied&cause=said+by+the+agent":     "bad",
		"/objects?namespace=team-a&state=NotAvailable&cause=no+message+says+why": "silent",
	} {
		if found := rows(path); len(found) != 1 || found[want] == "" {
			t.Errorf("%s has %v, want %s", path, found, want)
		}
	}
	if text := as(t, pages, "jane", http.MethodGet, "/", "").Body.String(); !strings.Contains(text, "on eu1: no message says why") {
		t.Errorf("the overview does not say that the agent gives no message: %s", text)
	}
}

// The head of a delivered object has the state of the lists, and since when it has it.
func TestTheHeadOfADeliveredObject(t *testing.T) {
	hub := deliveriesOf(t)
	const since = `<dt>Since</dt><dd><time datetime="2026-01-31T11:00:00Z">`
	for _, tc := range []struct {
		path       string
		hides      func(list client.ObjectList, namespace string) bool
		want, lack []string
	}{
		{path: "/objects/team-a/ConfigMap/bad", want: []string{`<span class="state bad"><bdi>NotApplied</bdi></span> <bdi>`, since}},
		{path: "/objects/team-a/ConfigMap/good", want: []string{`<span class="state good"><bdi>Available</bdi></span>`, since}},
		{path: "/objects/team-a/ConfigMap/good?cluster=eu1", want: []string{`<span class="state good"><bdi>Available</bdi></span>`, since}},
		{path: "/objects/team-a/ConfigMap/new", want: []string{`<span class="state plain"><bdi>Delivered</bdi></span>`}, lack: []string{"Since"}},
		{
			path: "/objects/team-a/ConfigMap/bad", want: []string{`<span class="state bad"><bdi>NotApplied</bdi></span>`}, lack: []string{since},
			hides: func(list client.ObjectList, _ string) bool { _, works := list.(*workv1.ManifestWorkList); return works },
		},
	} {
		hub.hides = tc.hides
		text := as(t, newPages(hub), "jane", http.MethodGet, tc.path, "").Body.String()
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q: %s", tc.path, want, text)
			}
		}
		for _, lack := range tc.lack {
			if strings.Contains(text, lack) {
				t.Errorf("%s has %q: %s", tc.path, lack, text)
			}
		}
	}
}
