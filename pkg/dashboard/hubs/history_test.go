// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/dashboard"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/test/fakehub"
)

// remembered is a history of team-a in the memory of a leader.
type remembered struct{ *history.Ring }

func (remembered) Leads() bool { return true }

func (remembered) NamespaceUID(context.Context, string) (types.UID, error) { return "present", nil }

// reviewed is the client of a user, who has the rights of reviews.
type reviewed struct {
	client.Client

	rights reviews
}

func (r reviewed) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	review, is := object.(*authorizationv1.SelfSubjectAccessReview)
	if !is {
		return r.Client.Create(ctx, object, options...)
	}
	asked := review.Spec.ResourceAttributes
	review.Status.Allowed = r.rights.may(asked.Verb, asked.Resource, asked.Namespace, asked.Name)
	return nil
}

// isRefused reports whether an error becomes the status Forbidden of a page.
func isRefused(err error) bool {
	_, lacks := errors.AsType[*access.RefusalError](err)
	return lacks || apierrors.IsForbidden(err)
}

// docs/spec/history.md HI8, HI10: pages get the history by the rights of the user, in the process of the hub and for the user of a kubeconfig.
func TestHI8TheHistoryForPages(t *testing.T) {
	const group = "cluster.open-cluster-management.io"
	ring := history.NewRing(1 << 20)
	ring.Add(&history.Move{
		Namespace: "team-a", NamespaceUID: "present", Group: group, Kind: "Placement", Name: "every", Lost: []string{"eu1"},
		Causes: []history.Cause{{Group: group, Kind: "ManagedCluster", Name: "hidden", Action: history.Created}},
	})
	question := dashboard.Question{Question: endpoint.Question{
		Command: endpoint.CommandHistory, Namespace: "team-a", Kinds: []endpoint.KindRef{{Group: group, Kind: "Placement"}}, Output: "json",
	}}
	explainer := fakehub.NewExplainer(t)
	explainer.History = remembered{ring}
	who := &user.DefaultInfo{Name: "jane"}
	for _, tc := range []struct {
		rights  reviews
		refused bool
		want    string
	}{
		{rights: reviews{}, refused: true},
		{rights: reviews{{"team-a", "list", "placements", ""}}, want: "lost eu1: a change of an object that this user may not read"},
		{rights: reviews{{"team-a", "list", "placements", ""}, {"", "get", "managedclusters", ""}}, want: "lost eu1: ManagedCluster hidden created"},
	} {
		server := httptest.NewTLSServer(endpoint.New(tc.rights, tc.rights, explainer))
		address := endpoint.Address{
			URL: server.URL, Authorities: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		}
		own := &Own{
			Broadcast: NewBroadcast(), Explainer: fakehub.NewExplainer(t), Namespace: "team-a",
			Ask: func(ctx context.Context, _ client.Reader, question endpoint.Question) (endpoint.Answer, error) {
				return endpoint.Ask(ctx, &rest.Config{BearerToken: "jane"}, address, question)
			},
		}
		within := *explainer
		within.Client = reviewed{explainer.Client, tc.rights}
		for name, hub := range map[string]dashboard.Hub{
			"shared": &Shared{Broadcast: NewBroadcast(), Explainer: explainer, Authority: tc.rights}, "own": own,
			"own, in a process of the hub": &Own{Broadcast: NewBroadcast(), Explainer: &within, Namespace: "team-a"},
		} {
			found, err := hub.Explain(t.Context(), who, question)
			list, is := found.(*movelist.List)
			switch {
			case tc.refused && !isRefused(err):
				t.Errorf("%s: nothing is refused: %+v, %v", name, found, err)
			case !tc.refused && (err != nil || !is || len(list.Moves) != 1 || list.Moves[0].Sentence() != tc.want):
				t.Errorf("%s: %+v, %v; want %q", name, found, err, tc.want)
			}
		}
		server.Close()
	}
}

// docs/spec/history.md HI21: the pages of shipped roles show the rows and causes that the command shows: a tenant sees those of the tenant alone.
func TestHI21ThePagesOfShippedRoles(t *testing.T) {
	const group = "cluster.open-cluster-management.io"
	ring := history.NewRing(1 << 20)
	for _, row := range []struct{ namespace, name, cluster, manager string }{
		{"team-a", "every", "eu1", "manager-of-eu1"}, {"team-a", "other", "hidden", "manager-of-hidden"},
		{"team-b", "theirs", "hidden", "manager-of-hidden"},
	} {
		ring.Add(&history.Move{
			Namespace: row.namespace, NamespaceUID: "present", Group: group, Kind: "Placement", Name: row.name, UID: row.name, Lost: []string{"eu2"},
			Causes: []history.Cause{{
				Group: group, Kind: "ManagedCluster", Name: row.cluster, Action: history.Added, What: "taint a:NoSelect",
				Field: "spec.taints[a:NoSelect]", Manager: row.manager,
			}},
		})
	}
	explainer := fakehub.NewExplainer(t)
	explainer.History = remembered{ring}
	rights := fakehub.NewRoles(t, "../../..")
	pages := dashboard.New(&Shared{Broadcast: NewBroadcast(), Explainer: explainer, Authority: rights}, dashboard.NewTokenGate(rights), explainer.Now)
	secrets := []string{"theirs", ">hidden<", "ManagedCluster hidden", `"name": "hidden"`, `"name":"hidden"`, "manager-of", "undone?"}
	for _, tc := range []struct {
		roles, path string
		code        int
		want, not   []string
	}{
		{fakehub.RoleView, "/history", http.StatusOK, []string{"every", "other", "a change of an object that this user may not read"}, secrets},
		{fakehub.RoleView, "/history?namespace=team-b", http.StatusOK, []string{"no history that you may read in namespace team-b"}, secrets},
		{
			fakehub.RoleView, "/placements/team-a/other/history", http.StatusOK, []string{"eu2", "may not read"},
			append(slices.Clone(secrets), "every"),
		},
		{
			fakehub.RoleView, "/placements/team-b/theirs/history", http.StatusForbidden, []string{"may not get"},
			append(slices.Clone(secrets[1:]), "eu2"),
		},
		{fakehub.RoleView, "/placements/team-b/none/history", http.StatusForbidden, []string{"may not get"}, append(slices.Clone(secrets), "eu2")},
		{fakehub.RoleView, "/clusters/eu2/history", http.StatusOK, []string{"every", "other"}, secrets},
		{fakehub.RoleView, "/objects/team-a/Secret/key/history", http.StatusForbidden, []string{"secrets"}, []string{"eu2"}},
		{fakehub.RoleView, "/", http.StatusOK, []string{"every", "other"}, secrets},
		{"nobody", "/history", http.StatusOK, []string{"no history that you may read"}, append(slices.Clone(secrets), "every", "eu2")},
		{"nobody", "/", http.StatusOK, nil, append(slices.Clone(secrets), "every", "eu2")},
		{"nobody", "/placements/team-a/every/history", http.StatusForbidden, nil, append(slices.Clone(secrets), "eu2")},
	} {
		for _, accepted := range []string{"text/html", "application/json"} {
			code, text := visitPage(t, pages, tc.roles, tc.path, accepted)
			if code != tc.code {
				t.Errorf("%s %s: status %d, want %d: %s", tc.roles, tc.path, code, tc.code, text)
			}
			for _, not := range tc.not {
				if strings.Contains(text, not) {
					t.Errorf("%s %s: %s shows %q: %s", tc.roles, tc.path, accepted, not, text)
				}
			}
			for _, want := range tc.want {
				if accepted == "text/html" && !strings.Contains(text, want) {
					t.Errorf("%s %s lacks %q: %s", tc.roles, tc.path, want, text)
				}
			}
		}
	}
}

// docs/spec/history.md HI21: pages without a hub, and those of a hub that does not answer, say that they have no history.
func TestHI21PagesWithoutAHubHaveNoHistory(t *testing.T) {
	question := dashboard.Question{Question: endpoint.Question{Command: endpoint.CommandHistory, Namespace: "team-a", Output: "json"}}
	for _, tc := range []struct {
		ask  func(context.Context, client.Reader, endpoint.Question) (endpoint.Answer, error)
		want string
	}{
		{nil, "start placement dashboard for a hub"},
		{
			func(context.Context, client.Reader, endpoint.Question) (endpoint.Answer, error) {
				return endpoint.Answer{}, errors.New("no address of its explanations")
			}, "which could not be asked: no address of its explanations",
		},
	} {
		hub := &Own{Broadcast: NewBroadcast(), Explainer: fakehub.NewExplainer(t), Namespace: "team-a", Ask: tc.ask}
		_, err := hub.Explain(t.Context(), &user.DefaultInfo{Name: "jane"}, question)
		if told, is := errors.AsType[*endpoint.AnswerError](err); !is || !strings.Contains(told.Error(), tc.want) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
	}
}
