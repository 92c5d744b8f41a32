// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
)

// deliveringHub is a testHub with the delivery of ConfigMaps, whose lists of ManifestWorks never end if endless is true.
type deliveringHub struct {
	*testHub

	endless bool
}

func (*deliveringHub) Settings() Settings { return Settings{Delivered: federation.DefaultKinds()} }

func (h *deliveringHub) Reader(user.Info) client.Client {
	if h.endless {
		return endlessReader{h.Client}
	}
	return h.Client
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
			Namespace: "eu1", Name: identity.WorkName(), Labels: map[string]string{federation.ManagedLabel: "true"},
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
	shown := deliveredIn("team-a", &federated.Reports{Objects: []federated.Report{{
		Namespace: "team-a", Group: "apps", Kind: "Deployment", Name: "web", Object: "Deployment.apps/team-a/web",
		Clusters: []federated.Cluster{{Name: "eu1", Verdict: "Predicate", Reason: "label region In [us]: is eu"}},
	}}})
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
