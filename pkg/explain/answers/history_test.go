// SPDX-License-Identifier: Apache-2.0

package answers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/test/expect"
	"github.com/placement-hub/placement-hub/test/fakehub"
)

const clusterGroup = "cluster.open-cluster-management.io"

// remembered is a history with a fixed uid of the namespace team-a.
type remembered struct {
	*history.Ring

	standby bool
	uid     types.UID
}

func (r remembered) Leads() bool { return !r.standby }

func (r remembered) NamespaceUID(context.Context, string) (types.UID, error) { return r.uid, nil }

func causeOf(kind, namespace, name string) history.Cause {
	return history.Cause{
		Group: clusterGroup, Kind: kind, Namespace: namespace, Name: name, Action: history.Changed, What: "label region",
		Field: "metadata.labels[region]", Old: "old-of-" + name, New: "new-of-" + name, Manager: "manager-of-" + name, UID: "uid-of-" + name,
	}
}

func moved(namespace, uid, name string, causes ...history.Cause) *history.Move {
	return &history.Move{
		Time: time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC), Namespace: namespace, NamespaceUID: uid, Group: clusterGroup, Kind: "Placement",
		Name: name, UID: "uid-of-" + name, Lost: []string{"eu1"}, Causes: causes,
	}
}

// ask asks a hub with some rows for its history, and returns what its text says.
func askHistory(t *testing.T, of remembered, roles string, question endpoint.Question) (int, movelist.List, string) {
	t.Helper()
	of.uid = "present"
	rights := fakehub.NewRoles(t, "../../..")
	explainer := fakehub.NewExplainer(t)
	explainer.History = of
	question.Command, question.Output = endpoint.CommandHistory, "json"
	code, answer := askHub(t, endpoint.New(rights, rights, explainer), roles, question)
	var list movelist.List
	if answer.Output != "" {
		expect.NoError(t, json.Unmarshal([]byte(answer.Output), &list))
	}
	return code, list, answer.Output + answer.Error
}

// docs/spec/history.md HI8 to HI10: a tenant sees the rows of Placements that the tenant may read, of the present namespace, and no name of what
// the tenant may not read.
func TestHI8ATenantSeesNoOthers(t *testing.T) {
	ring := history.NewRing(1 << 20)
	secret := []history.Cause{
		causeOf("ManagedCluster", "", "hidden"), causeOf("ManagedClusterSet", "", "others"), causeOf("AddOnPlacementScore", "hidden", "secret-score"),
		causeOf("Placement", "team-b", "theirs"),
	}
	for _, move := range []*history.Move{
		moved("team-a", "present", "every", append(secret, causeOf("Placement", "team-a", "every"))...),
		moved("team-a", "former", "forgotten"), moved("team-a", "", "unknown"), moved("team-a", "present", "deleted"),
		moved("team-b", "present", "theirs"),
	} {
		ring.Add(move)
	}
	placements := []endpoint.KindRef{{Group: clusterGroup, Kind: "Placement"}}
	code, list, text := askHistory(t, remembered{Ring: ring}, fakehub.RoleView, endpoint.Question{Namespace: "team-a", Kinds: placements})
	var names []string
	for _, move := range list.Moves {
		names = append(names, move.Name)
	}
	if diff := cmp.Diff([]string{"every", "deleted"}, names); code != 200 || diff != "" {
		t.Errorf("code %d, %s (-want +got):\n%s", code, text, diff)
	}
	for _, name := range []string{"hidden", "others", "secret-score", "theirs", "forgotten", "unknown", "former"} {
		if strings.Contains(text, `"`+name+`"`) || strings.Contains(text, "-of-"+name) {
			t.Errorf("the answer names %s:\n%s", name, text)
		}
	}
	if first := list.Moves[0]; first.HiddenCauses != len(secret) || len(first.Causes) != 1 || first.Causes[0].Manager != "manager-of-every" {
		t.Errorf("the causes are %+v, and %d hidden", first.Causes, first.HiddenCauses)
	}

	object := []endpoint.Object{{Group: clusterGroup, Kind: "Placement", Name: "every"}}
	for _, tc := range []struct {
		reason, roles string
		question      endpoint.Question
		code, moves   int
		text          string
	}{
		{"a named Placement", fakehub.RoleView, endpoint.Question{Namespace: "team-a", Objects: object}, 200, 1, ""},
		{"a cluster", fakehub.RoleView, endpoint.Question{Namespace: "team-a", Kinds: placements, Clusters: []string{"eu2"}}, 200, 0, ""},
		{"the name of a hidden cause finds nothing", fakehub.RoleView,
			endpoint.Question{Namespace: "team-a", Kinds: placements, Clusters: []string{"hidden"}}, 200, 0, ""},
		{"a later time", fakehub.RoleView, endpoint.Question{Namespace: "team-a", Kinds: placements, Since: &metav1.Time{
			Time: time.Date(2026, 1, 31, 11, 0, 1, 0, time.UTC),
		}}, 200, 0, ""},
		{"no role", "none", endpoint.Question{Namespace: "team-a", Objects: object}, 403, 0, "may not get placements"},
		{"another namespace", fakehub.RoleView, endpoint.Question{Namespace: "team-b", Kinds: placements}, 403, 0, "may not list placements"},
		{"all namespaces", fakehub.RoleView, endpoint.Question{Kinds: placements}, 403, 0, "in all namespaces"},
		{"another kind", fakehub.RoleView, endpoint.Question{Namespace: "team-a", Kinds: []endpoint.KindRef{{Kind: "Pod"}}}, 400, 0,
			"kinds[0]: the hub keeps the history of Placements, delivered objects and ClusterRequests, and not of the kind Pod"},
		{"nothing", fakehub.RoleView, endpoint.Question{Namespace: "team-a"}, 400, 0, "objects, kinds: name what is asked about"},
		{"an object without a namespace", fakehub.RoleView, endpoint.Question{Objects: object}, 400, 0, "namespace: it is required"},
	} {
		code, list, text := askHistory(t, remembered{Ring: ring}, tc.roles, tc.question)
		if code != tc.code || len(list.Moves) != tc.moves || !strings.Contains(text, tc.text) {
			t.Errorf("%s: code %d, %d rows, %s", tc.reason, code, len(list.Moves), text)
		}
	}
}

// docs/spec/history.md HI7: the answer of a standby says so.
func TestHI7AStandbySaysSo(t *testing.T) {
	ring := history.NewRing(1 << 20)
	ring.Add(moved("team-a", "present", "every"))
	question := endpoint.Question{Namespace: "team-a", Kinds: []endpoint.KindRef{{Group: clusterGroup, Kind: "Placement"}}}
	if _, list, text := askHistory(t, remembered{Ring: ring, standby: true}, fakehub.RoleView, question); !list.Derived {
		t.Errorf("the answer is %s", text)
	}
	if _, list, text := askHistory(t, remembered{Ring: ring}, fakehub.RoleView, question); list.Derived {
		t.Errorf("the answer is %s", text)
	}
}

// docs/spec/history.md HI2: an answer has the latest rows, of a bounded number of bytes.
func TestHI2AnswersAreBounded(t *testing.T) {
	ring := history.NewRing(64 << 20)
	clusters := make([]string, 5000)
	for i := range clusters {
		clusters[i] = fmt.Sprintf("cluster-%04d", i)
	}
	for i := range 100 {
		move := moved("team-a", "present", fmt.Sprintf("p%d", i))
		move.Lost = clusters
		ring.Add(move)
	}
	question := endpoint.Question{Namespace: "team-a", Kinds: []endpoint.KindRef{{Group: clusterGroup, Kind: "Placement"}}}
	question.Limit = 3
	if _, list, _ := askHistory(t, remembered{Ring: ring}, fakehub.RoleView, question); len(list.Moves) != 3 || !list.More ||
		list.Moves[2].Name != "p99" {
		t.Errorf("of 3 rows %d are answered, more %v", len(list.Moves), list.More)
	}
	question.Limit = 100000
	_, list, text := askHistory(t, remembered{Ring: ring}, fakehub.RoleView, question)
	if len(list.Moves) == 0 || len(list.Moves) == 100 || !list.More || list.Moves[len(list.Moves)-1].Name != "p99" || len(text) > 16<<20 {
		t.Errorf("%d rows in %d bytes, more %v", len(list.Moves), len(text), list.More)
	}
}

// A hub without a history says what to do.
func TestNoHistory(t *testing.T) {
	rights := fakehub.NewRoles(t, "../../..")
	code, answer := askHub(t, endpoint.New(rights, rights, fakehub.NewExplainer(t)), fakehub.RoleView, endpoint.Question{
		Command: endpoint.CommandHistory, Namespace: "team-a", Kinds: []endpoint.KindRef{{Group: clusterGroup, Kind: "Placement"}}, Output: "json",
	})
	if code != 200 || !strings.Contains(answer.Error, "the hub keeps no history of decisions") {
		t.Errorf("code %d, %+v", code, answer)
	}
}

// everything permits everything to everybody.
type everything struct{}

func (everything) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

// docs/spec/history.md HI8: who may list Placements in all namespaces sees all rows with all causes.
func TestHI8AnAdministratorSeesAll(t *testing.T) {
	ring := history.NewRing(1 << 20)
	ring.Add(moved("team-a", "former", "forgotten", causeOf("ManagedCluster", "", "hidden")))
	ring.Add(moved("team-b", "present", "theirs"))
	explainer := fakehub.NewExplainer(t)
	explainer.History = remembered{Ring: ring, uid: "present"}
	ctx := access.WithCaller(t.Context(), everything{}, &user.DefaultInfo{Name: "root"})
	answer, err := explainer.Explain(ctx, &endpoint.Question{
		Command: endpoint.CommandHistory, Kinds: []endpoint.KindRef{{Group: clusterGroup, Kind: "Placement"}}, Output: "table",
	})
	expect.NoError(t, err)
	want := "11:00:00 team-a/forgotten lost eu1: ManagedCluster hidden label region changed from old-of-hidden to new-of-hidden " +
		"by manager-of-hidden\n" +
		"11:00:00 team-b/theirs lost eu1\n"
	if answer.Output != want {
		t.Errorf("got\n%swant\n%s", answer.Output, want)
	}
}

// docs/spec/history.md HI10: who may get all clusters sees all causes, in however many namespaces and of however many clusters they are.
func TestHI10AllCausesForWhoMayGetAll(t *testing.T) {
	ring := history.NewRing(1 << 22)
	const rows = 300
	for i := range rows {
		ring.Add(moved(fmt.Sprintf("team-%d", i), "present", "every", causeOf("ManagedCluster", "", fmt.Sprintf("hidden-%d", i))))
	}
	explainer := fakehub.NewExplainer(t)
	explainer.History = remembered{Ring: ring, uid: "present"}
	ctx := access.WithCaller(t.Context(), everything{}, &user.DefaultInfo{Name: "root"})
	answer, err := explainer.Explain(ctx, &endpoint.Question{
		Command: endpoint.CommandHistory, Kinds: []endpoint.KindRef{{Group: clusterGroup, Kind: "Placement"}}, Output: "table",
	})
	expect.NoError(t, err)
	if seen := strings.Count(answer.Output, " by manager-of-hidden-"); seen != rows {
		t.Errorf("%d of %d causes are shown", seen, rows)
	}
}
