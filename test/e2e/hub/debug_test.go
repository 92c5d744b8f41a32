// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const (
	debugPath = "/debug/placements/"
	debugRole = "open-cluster-management:placement-hub:debug"
)

// debugResponse is what is read of an answer: upstream's names, and ours.
type debugResponse struct {
	Placement clusterv1beta1.Placement `json:"placement"`
	Filtered  []struct {
		Name     string   `json:"name"`
		Clusters []string `json:"filteredClusters"`
	} `json:"filteredPipelineResults"`
	Scores []struct {
		Cluster string `json:"clusterName"`
	} `json:"aggregatedScores"`
	Error    string                          `json:"error"`
	Selected []string                        `json:"selected"`
	Verdicts []struct{ Name, Reason string } `json:"verdicts"`
}

// checkDebug asks leader and standby, and a process beside them that only answers questions. Scenarios 31 to 33 and 37.
func checkDebug(t *testing.T, h *suite.Hub, leader, standby *suite.Replica) {
	t.Helper()
	before := len(h.Writes(t))
	aside := h.StartServer(t, "debug", "--kubeconfig", h.Kubeconfig, "--listen=127.0.0.1:0", "--disable-leader-election",
		"--controllers=placement,placement-v1alpha1")
	asker, half := debugger(t, h, "asker", "edit"), debugger(t, h, "half", "")
	for who, r := range map[string]*suite.Replica{"the leader": leader, "the standby": standby, "placement debug": aside} {
		t.Run(who, func(t *testing.T) { checkDebugOf(t, h, r, asker, half) })
	}
	checkSameResponses(t, asker, leader, standby, aside)
	for _, event := range h.Writes(t)[before:] {
		t.Errorf("a question led to %s %s", event.Verb, event.RequestURI)
	}
	if log := aside.Stderr.String(); strings.Contains(log, "acquired lease") || strings.Contains(log, "Starting workers") {
		t.Errorf("placement debug leads or works: %s", log)
	}
	aside.Signal(t, syscall.SIGTERM)
	aside.WantExit(t, 0)
	aside.WantNothingLeft(t)
}

// debugger returns the token of an account that may ask the endpoint, and has a role in the namespace team-a if one is given.
func debugger(t *testing.T, h *suite.Hub, account, role string) (token string) {
	t.Helper()
	token = h.Token(t, account)
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: account}}
	suite.Must(t, h.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "debug-" + account}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: debugRole},
	}))
	if role != "" {
		suite.Must(t, h.Client.Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "debug-" + account}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}))
	}
	h.AwaitRoles(t)
	return token
}

func checkDebugOf(t *testing.T, h *suite.Hub, r *suite.Replica, asker, half string) {
	t.Helper()
	suite.Eventually(t, "waiting for an answer", func() error {
		if status, body := r.Get(t, debugPath+"team-a/payments", asker); status != http.StatusOK {
			return fmt.Errorf("%d %s", status, body)
		}
		return nil
	})
	sent := `{"apiVersion":"cluster.open-cluster-management.io/v1beta1","kind":"Placement","metadata":{"namespace":"team-a","name":"%s"},
		"spec":{"numberOfClusters":1,"predicates":[{"requiredClusterSelector":{"labelSelector":{"matchLabels":{"name":"us2"}}}}]}}`
	for _, tc := range []struct {
		reason, method, path, token, body string
		want                              int
		says                              string
	}{
		{"a placement", http.MethodGet, "team-a/payments", asker, "", http.StatusOK, ""},
		{"one of the older API", http.MethodGet, "team-a/ledger?api=placement.open-cluster-management.io", asker, "", http.StatusOK, ""},
		{"what might be", http.MethodPost, "", asker, fmt.Sprintf(sent, "new"), http.StatusOK, ""},
		{"what another might be", http.MethodPost, "", asker, fmt.Sprintf(sent, "payments"), http.StatusOK, ""},
		{"one that is not there", http.MethodGet, "team-a/missing", asker, "", http.StatusNotFound, "no Placement team-a/missing"},
		{"no path", http.MethodGet, "", asker, "", http.StatusBadRequest, "<namespace>/<name>"},
		{
			"a typo", http.MethodPost, "", asker, `{"metadata":{"namespace":"team-a"},"spec":{"numberOfCluster":1}}`, http.StatusBadRequest,
			"spec.numberOfCluster: unknown field",
		},
		{"another namespace", http.MethodGet, "team-b/training", asker, "", http.StatusForbidden, "does not have permission to get placements"},
		{"nobody", http.MethodGet, "team-a/payments", "", "", http.StatusUnauthorized, "bearer token"},
		{"half the rights", http.MethodGet, "team-a/payments", half, "", http.StatusForbidden, "does not have permission to get placements"},
		{
			"half the rights, and nothing there", http.MethodGet, "team-a/missing", half, "", http.StatusForbidden,
			"does not have permission to get placements",
		},
		{
			"half the rights to send", http.MethodPost, "", half, fmt.Sprintf(sent, "new"), http.StatusForbidden,
			"does not have permission to create placements",
		},
		{"the other half", http.MethodGet, "team-a/payments", h.Stranger(t), "", http.StatusForbidden, "nonResourceURL"},
	} {
		status, body := r.Request(t, tc.method, debugPath+tc.path, tc.token, tc.body)
		if status != tc.want || !strings.Contains(body, tc.says) {
			t.Errorf("%s: %d %s; want %d, %q", tc.reason, status, body, tc.want, tc.says)
		}
	}

	answer := askDebug(t, r, http.MethodGet, "team-a/payments", asker, "")
	if got := []string{answer.Filtered[0].Name, answer.Filtered[1].Name}; !slices.Equal(got, []string{"Predicate", "Predicate,TaintToleration"}) {
		t.Errorf("filters %q", got)
	}
	if want := []string{"eu1", "eu2", "us1"}; answer.Placement.Name != "payments" || answer.Placement.Namespace != "team-a" ||
		!slices.Equal(answer.Filtered[1].Clusters, want) ||
		len(answer.Scores) != len(want) || len(answer.Verdicts) < len(want) {
		t.Errorf("GET answers %+v", answer)
	}
	if what := askDebug(t, r, http.MethodPost, "", asker, fmt.Sprintf(sent, "payments")); !slices.Equal(what.Selected, []string{"us2"}) {
		t.Errorf("POST answers %+v", what)
	}
}

// checkSameResponses asks each of them about every placement of the namespace.
func checkSameResponses(t *testing.T, token string, replicas ...*suite.Replica) {
	t.Helper()
	for _, path := range []string{"rollout", "payments", "standby", "ledger?api=placement.open-cluster-management.io"} {
		suite.Eventually(t, "waiting for the same answer", func() error {
			_, want := replicas[0].Get(t, debugPath+"team-a/"+path, token)
			for i, r := range replicas[1:] {
				if _, got := r.Get(t, debugPath+"team-a/"+path, token); got != want {
					return fmt.Errorf("%s: the leader says %s, and replica %d %s", path, want, i+1, got)
				}
			}
			return nil
		})
	}
}

func askDebug(t *testing.T, r *suite.Replica, method, path, token, body string) (answer debugResponse) {
	t.Helper()
	_, text := r.Request(t, method, debugPath+path, token, body)
	suite.Must(t, json.Unmarshal([]byte(text), &answer))
	return answer
}
