// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"encoding/pem"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/dashboard"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/test/fakehub"
)

// remembered is a history of team-a in the memory of a leader.
type remembered struct{ *history.Ring }

func (remembered) Leads() bool { return true }

func (remembered) NamespaceUID(context.Context, string) (types.UID, error) { return "present", nil }

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
		for name, hub := range map[string]dashboard.Hub{
			"shared": &Shared{Broadcast: NewBroadcast(), Explainer: explainer, Authority: tc.rights}, "own": own,
		} {
			found, err := hub.Explain(t.Context(), who, question)
			list, is := found.(*movelist.List)
			switch {
			case tc.refused && err == nil:
				t.Errorf("%s: nothing is refused: %+v", name, found)
			case !tc.refused && (err != nil || !is || len(list.Moves) != 1 || list.Moves[0].Sentence() != tc.want):
				t.Errorf("%s: %+v, %v; want %q", name, found, err, tc.want)
			}
		}
		server.Close()
	}
}
