// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/dashboard"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/test/expect"
	"github.com/placement-hub/placement-hub/test/fakehub"
	"github.com/placement-hub/placement-hub/test/property"
)

// grant is a right of a Role, or with an empty namespace of a ClusterRole that is bound in all namespaces.
type grant struct{ namespace, verb, resource, name string }

// reviews authenticates everybody as jane, and authorizes by grants.
type reviews []grant

func (reviews) AuthenticateRequest(*http.Request) (*authenticator.Response, bool, error) {
	return &authenticator.Response{User: &user.DefaultInfo{Name: "jane"}}, true, nil
}

func (r reviews) Authorize(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	if r.may(asked.GetVerb(), asked.GetResource(), asked.GetNamespace(), asked.GetName()) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func (r reviews) may(verb, resource, namespace, name string) bool {
	return slices.ContainsFunc(r, func(g grant) bool {
		return g.verb == verb && g.resource == resource && (g.namespace == "" || g.namespace == namespace) && (g.name == "" || g.name == name)
	})
}

// sharedPages are the pages of a hub in memory for everybody who logs in.
func sharedPages(t *testing.T, who interface {
	authenticator.Request
	access.Authorizer
},
) http.Handler {
	t.Helper()
	explainer := fakehub.NewExplainer(t)
	hub := &Shared{Broadcast: NewBroadcast(), Explainer: explainer, Authority: who}
	return dashboard.New(hub, dashboard.NewTokenGate(who), explainer.Now)
}

// visitPage returns the status code and the text of a page. accepted is its format.
func visitPage(t *testing.T, pages http.Handler, token, path, accepted string) (int, string) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", accepted)
	recorder := httptest.NewRecorder()
	pages.ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.String()
}

// docs/spec/differences.md E1a holds for the pages, as each shipped role: what the namespace does not show is on no page.
func TestE1aThePagesOfShippedRoles(t *testing.T) {
	pages := sharedPages(t, fakehub.NewRoles(t, "../../.."))
	for _, tc := range []struct {
		reason, roles, path string
		code                int
		want, not           []string
	}{
		{
			reason: "the overview of a tenant", roles: fakehub.RoleView, path: "/", code: http.StatusOK,
			want: []string{"managedclusters", `href="/placements?namespace=team-a"`}, not: []string{"theirs", ">hidden<", "eu1", "team-b"},
		},
		{
			reason: "the list of Placements of a tenant", roles: fakehub.RoleView, path: "/placements", code: http.StatusOK,
			want: []string{"team-a/every", "team-a/other", "of 2 Placements"}, not: []string{"theirs", ">hidden<", "eu1", "team-b"},
		},
		{
			reason: "Placements of a set that is not bound", roles: fakehub.RoleView, path: "/placements?set=hidden", code: http.StatusOK,
			want: []string{"No Placement matches"}, not: []string{"theirs", "eu1", "team-b"},
		},
		{
			reason: "Placements of another namespace", roles: fakehub.RoleView, path: "/placements?namespace=team-b", code: http.StatusOK,
			want: []string{"There are no Placements that you may read in namespace team-b"}, not: []string{"theirs", ">hidden<", "eu1"},
		},
		{
			reason: "delivered objects of all namespaces", roles: fakehub.RoleView, path: "/objects", code: http.StatusOK,
			want: []string{"Name a namespace", `href="/objects?namespace=team-a"`}, not: []string{"theirs", ">hidden<", "eu1", "team-b"},
		},
		{
			reason: "a Placement, which the hub explains", roles: fakehub.RoleView, path: "/placements/team-a/every", code: http.StatusOK,
			want: []string{"eu1", "edge1", "all 3 feasible selected", "✓"}, not: []string{">hidden<", "others", "theirs"},
		},
		{
			reason: "a cluster in the scope", roles: fakehub.RoleView, path: "/placements/team-a/every?cluster=eu1", code: http.StatusOK,
			want: []string{"eu1", "set prod"}, not: []string{">hidden<", "others"},
		},
		{
			reason: "a cluster out of the scope", roles: fakehub.RoleView, path: "/placements/team-a/every?cluster=hidden", code: http.StatusOK,
			want: []string{"there is no ManagedCluster hidden in the sets that the namespace may use"}, not: []string{"others"},
		},
		{
			reason: "a cluster that does not exist", roles: fakehub.RoleView, path: "/placements/team-a/every?cluster=none", code: http.StatusOK,
			want: []string{"there is no ManagedCluster none in the sets that the namespace may use"},
		},
		{reason: "no rights", roles: "nobody", path: "/placements/team-a/every", code: http.StatusForbidden, not: []string{"eu1"}},
		{
			reason: "another namespace", roles: fakehub.RoleView,
			path: "/placements/team-b/theirs", code: http.StatusForbidden, not: []string{">hidden<"},
		},
		{reason: "another namespace that has nothing", roles: fakehub.RoleView, path: "/placements/team-b/none", code: http.StatusForbidden},
		{reason: "clusters", roles: fakehub.RoleView, path: "/clusters", code: http.StatusForbidden, not: []string{"eu1", ">hidden<"}},
		{reason: "a cluster", roles: fakehub.RoleView, path: "/clusters/eu1", code: http.StatusForbidden, not: []string{"edge1", "prod"}},
		{
			reason: "delivered objects of kinds that the user may list", roles: fakehub.RoleView + " " + fakehub.KubernetesView,
			path: "/objects?namespace=team-a",
			code: http.StatusOK, want: []string{"ConfigMap/team-a/settings", "Deployment.apps/team-a/web"}, not: []string{"Secret", ">hidden<"},
		},
		{
			reason: "delivered objects by the set of clusters that the user may not list", roles: fakehub.RoleView + " " + fakehub.KubernetesView,
			path: "/objects?namespace=team-a&set=prod", code: http.StatusOK, want: []string{"You may not list clusters"}, not: []string{">hidden<"},
		},
		{
			reason: "a Secret that the user may not get", roles: fakehub.RoleView + " " + fakehub.KubernetesView, path: "/objects/team-a/Secret/key",
			code: http.StatusForbidden,
		},
		{
			reason: "a workload", roles: fakehub.RoleView + " " + fakehub.KubernetesView,
			path: "/workloads/team-a/Deployment.apps/web", code: http.StatusOK,
			want: []string{"nodes fit, which are not named"}, not: []string{"n1", "n2", "may not be read by this user"},
		},
		{
			reason: "a workload that is delivered", roles: fakehub.RoleView + " " + fakehub.KubernetesView,
			path: "/objects/team-a/Deployment.apps/web", code: http.StatusOK, want: []string{">eu1<", ">edge1<"}, not: []string{">hidden<", "others"},
		},
		{
			reason: "requests", roles: fakehub.RoleRequester, path: "/requests?namespace=team-a", code: http.StatusOK, want: []string{"team-a/ci"},
			not: []string{"theirs"},
		},
		{
			reason: "a request", roles: fakehub.RoleRequester, path: "/requests/team-a/ci", code: http.StatusOK, want: []string{"NoMatchingProfile"},
			not: []string{"theirs"},
		},
		{
			reason: "a search", roles: fakehub.RoleView, path: "/search?q=e", code: http.StatusOK, want: []string{"team-a/every"},
			not: []string{"theirs", "eu1"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			for _, accepted := range []string{"text/html", "application/json"} {
				code, text := visitPage(t, pages, tc.roles, tc.path, accepted)
				if code != tc.code {
					t.Errorf("%s: status %d, want %d: %s", accepted, code, tc.code, text)
				}
				for _, not := range tc.not {
					if strings.Contains(text, not) {
						t.Errorf("%s shows %q: %s", accepted, not, text)
					}
				}
				for _, want := range tc.want {
					if accepted == "text/html" && !strings.Contains(text, want) {
						t.Errorf("%s lacks %q: %s", accepted, want, text)
					}
				}
			}
		})
	}
}

// ownPages are the pages of a hub in memory for one user, whose context is in a namespace, and whom no endpoint answers.
func ownPages(t *testing.T, roles, namespace string) func(path, accepted string) (int, string) {
	t.Helper()
	who := &user.DefaultInfo{Name: "jane", Groups: strings.Fields(roles)}
	explainer := fakehub.NewExplainer(t)
	explainer.Client, explainer.Limited = access.NewReader(explainer.Client, fakehub.NewRoles(t, "../../.."), who), false
	gate := dashboard.NewLocalGate(who)
	pages := dashboard.New(&Own{Broadcast: NewBroadcast(), Explainer: explainer, Namespace: namespace}, gate, explainer.Now)
	get := func(path, accepted string, cookies []*http.Cookie) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		request.Host = "127.0.0.1:8484"
		request.Header.Set("Accept", accepted)
		for _, cookie := range cookies {
			request.AddCookie(cookie)
		}
		recorder := httptest.NewRecorder()
		pages.ServeHTTP(recorder, request)
		return recorder
	}
	cookies := get(gate.URL(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8484}), "text/html", nil).Result().Cookies()
	return func(path, accepted string) (int, string) {
		response := get(path, accepted, cookies)
		return response.Code, response.Body.String()
	}
}

// An edited Placement is compared with what the user may list: objects of a delivered kind are among it.
func TestAPreviewKnowsWhatTheUserMayList(t *testing.T) {
	pages := sharedPages(t, fakehub.NewRoles(t, "../../.."))
	const edited = "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: every, namespace: team-a}\n" +
		"spec: {numberOfClusters: 1}\n"
	for roles, hidden := range map[string]bool{"": true, " " + fakehub.KubernetesView: false} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/placements/team-a/every/preview", strings.NewReader(edited))
		request.Header.Set("Authorization", "Bearer "+fakehub.RoleView+" "+fakehub.RoleEdit+roles)
		request.Header.Set("Content-Type", "application/yaml")
		recorder := httptest.NewRecorder()
		pages.ServeHTTP(recorder, request)
		text := recorder.Body.String()
		if recorder.Code != http.StatusOK || strings.Contains(text, "may list none of a kind that is delivered") != hidden {
			t.Errorf("with the roles%s: status %d: %s", roles, recorder.Code, text)
		}
	}
}

// Every page that lists shows what the user may list, or says where it has looked and what to do: whatever the namespace of the context is.
func TestPagesOfFewRights(t *testing.T) {
	const (
		tenant    = fakehub.RoleView + " " + fakehub.KubernetesView
		requester = fakehub.RoleRequester
		option    = "start placement dashboard with --namespace"
		nowhere   = " in namespace default. "
		above     = "Name a namespace that you may read above"
		fleet     = "ClusterRoleBinding to open-cluster-management:placement-hub:fleet-view"
	)
	shared := sharedPages(t, fakehub.NewRoles(t, "../../.."))
	for _, tc := range []struct {
		roles, context, path string // an empty context is the dashboard of the hub
		code                 int
		want                 []string
	}{
		{tenant, "team-a", "/", http.StatusOK, []string{"Needs attention", "placement explain --all -n team-a"}},
		{tenant, "default", "/", http.StatusOK, []string{"None that you may list" + nowhere, option}},
		{tenant, "default", "/?namespace=team-a", http.StatusOK, []string{"Needs attention", "kubectl get placements -n team-a"}},
		{tenant, "default", "/placements", http.StatusOK, []string{"There are no Placements that you may read" + nowhere, option}},
		{tenant, "default", "/placements?namespace=team-a", http.StatusOK, []string{">team-a/every<"}},
		{tenant, "default", "/placements?set=prod", http.StatusOK, []string{"There are no Placements that you may read" + nowhere, option}},
		{tenant, "default", "/search?q=every", http.StatusOK, []string{"0 names"}},
		{tenant, "team-a", "/search?q=every", http.StatusOK, []string{">team-a/every<"}},
		{tenant, "default", "/requests", http.StatusOK, []string{"There are no ClusterRequests that you may read" + nowhere, option}},
		{requester, "default", "/requests?namespace=team-a", http.StatusOK, []string{">team-a/ci<"}},
		{requester, "team-a", "/requests", http.StatusOK, []string{">team-a/ci<", "kubectl get clusterrequests -n team-a"}},
		{requester, "team-a", "/", http.StatusOK, []string{"None that you may list in namespace team-a. ", "/requests?state=", "placements, "}},
		{tenant, "default", "/workloads", http.StatusOK, []string{"There are no workloads that you may read" + nowhere, option}},
		{tenant, "team-a", "/workloads", http.StatusOK, []string{">team-a/web<"}},
		{tenant, "team-a", "/workloads/team-a/Deployment.apps/web", http.StatusOK, []string{"Nodes may not be read by this user"}},
		{tenant, "default", "/objects", http.StatusOK, []string{"Name a namespace", `href="/objects?namespace=default"`}},
		{tenant, "default", "/objects?namespace=default", http.StatusForbidden, []string{"RoleBinding to view there"}},
		{tenant, "default", "/clusters", http.StatusForbidden, []string{fleet}},
		{tenant, "default", "/fleet", http.StatusForbidden, []string{fleet}},
		{tenant, "default", "/placements/team-a/every", http.StatusForbidden, []string{"hub"}},
		{tenant, "", "/", http.StatusOK, []string{"Needs attention", "placement explain --all -n team-a"}},
		{tenant, "", "/requests?namespace=team-b", http.StatusOK, []string{"There are no ClusterRequests that you may read in namespace team-b. "}},
		{"nobody", "", "/", http.StatusOK, []string{"None that you may list. ", above}},
		{"nobody", "", "/placements", http.StatusOK, []string{"There are no Placements that you may read. ", above}},
		{"nobody", "", "/workloads", http.StatusOK, []string{"There are no workloads that you may read. ", above}},
		{requester, "", "/requests?namespace=team-a", http.StatusOK, []string{">team-a/ci<"}},
	} {
		t.Run(strings.Join([]string{tc.roles, tc.context, tc.path}, " "), func(t *testing.T) {
			visit := func(path, accepted string) (int, string) { return visitPage(t, shared, tc.roles, path, accepted) }
			if tc.context != "" {
				visit = ownPages(t, tc.roles, tc.context)
			}
			code, text := visit(tc.path, "text/html")
			if code != tc.code {
				t.Errorf("status %d, want %d: %s", code, tc.code, text)
			}
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing: %s", want, text)
				}
			}
			if code, text := visit(tc.path, "application/json"); code != tc.code || strings.Contains(text, "theirs") {
				t.Errorf("the JSON twin has status %d: %s", code, text)
			}
		})
	}
}

// all allows everything.
type all struct{ fakehub.Roles }

// Authorize implements authorizer.Authorizer.
func (all) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

// The workloads of one namespace have their states, as far as the user may read what decides about them: a tenant does not learn which nodes fit.
func TestWorkloadsOfANamespaceHaveStates(t *testing.T) {
	const (
		column = `<td data-label="State">`
		fits   = column + `<span class="state good"><bdi>Fits</bdi></span></td>`
		hidden = column + `<bdi>-</bdi></td>`
		tenant = fakehub.RoleView + " " + fakehub.KubernetesView
	)
	roles := fakehub.NewRoles(t, "../../..")
	shared := func(who interface {
		authenticator.Request
		access.Authorizer
	},
	) func(path, accepted string) (int, string) {
		pages := sharedPages(t, who)
		return func(path, accepted string) (int, string) { return visitPage(t, pages, tenant, path, accepted) }
	}
	for reason, tc := range map[string]struct {
		visit           func(path, accepted string) (int, string)
		path, want, not string
	}{
		"who may read everything":          {shared(all{roles}), "/workloads?namespace=team-a", fits, "Not all states"},
		"several namespaces":               {shared(all{roles}), "/workloads", "Choose a namespace to see the states", column},
		"a tenant of a hub that may":       {shared(roles), "/workloads?namespace=team-a", hidden, "Not all states"},
		"a tenant with one namespace":      {shared(roles), "/workloads", hidden, "Choose a namespace"},
		"a tenant whom nobody answers for": {ownPages(t, tenant, "team-a"), "/workloads", "Not all states are known: ", "Fits"},
	} {
		t.Run(reason, func(t *testing.T) {
			code, text := tc.visit(tc.path, "text/html")
			if code != http.StatusOK || !strings.Contains(text, tc.want) || strings.Contains(text, tc.not) {
				t.Errorf("status %d; want %q and not %q: %s", code, tc.want, tc.not, text)
			}
		})
	}
}

// What the pages show is what kubectl auth can-i allows, for users with any rights: the names of objects, of clusters and of nodes.
func TestE1aThePagesShowWhatTheUserMayRead(t *testing.T) {
	paths := []string{
		"/", "/?namespace=team-a", "/?namespace=team-b", "/search?q=e", "/sets", "/sets?namespace=team-b",
		"/clusters", "/clusters/eu1", "/clusters/hidden?drain=true", "/clusters/edge1",
		"/placements/team-a/every", "/placements/team-a/every?cluster=eu1", "/placements/team-a/every?cluster=hidden", "/placements/team-b/theirs",
		"/objects", "/objects?namespace=team-a", "/objects/team-a/ConfigMap/settings", "/objects/team-a/Secret/key", "/requests",
		"/requests?namespace=team-b", "/requests/team-a/ci", "/requests/team-b/theirs", "/workloads?namespace=team-a",
		"/workloads/team-a/Deployment.apps/web",
	}
	resources := []string{
		"placements", "placementdecisions", "managedclusters", "managedclustersets", "managedclustersetbindings", "addonplacementscores", "nodes",
		"clusterrequests", "clusterrequestgrants", "configmaps", "secrets", "deployments", "namespaces", "manifestworks",
	}
	property.Check(t, func(r *rapid.T) {
		who := reviews{}
		for range rapid.IntRange(0, 20).Draw(r, "grants") {
			who = append(who, grant{
				namespace: rapid.SampledFrom([]string{"", "team-a", "team-b"}).Draw(r, "namespace"),
				verb:      rapid.SampledFrom([]string{"get", "list"}).Draw(r, "verb"), resource: rapid.SampledFrom(resources).Draw(r, "resource"),
			})
		}
		if rapid.Bool().Draw(r, "fleet") { // All that evaluations take, which random rights rarely are.
			for _, resource := range []string{"managedclusters", "managedclustersets", "addonplacementscores", "placementdecisions"} {
				who = append(who, grant{verb: "list", resource: resource}, grant{verb: "get", resource: resource})
			}
		}
		pages := sharedPages(t, who)
		path := rapid.SampledFrom(paths).Draw(r, "path")
		for _, accepted := range []string{"text/html", "application/json"} {
			code, text := visitPage(t, pages, "jane", path, accepted)
			for _, leaked := range who.leaks(path, text) {
				r.Errorf("%s as %s has status %d and shows %s: %s", path, accepted, code, leaked, text)
			}
		}
	})
}

// leaks returns what a page shows and the user may not know. A name in the URL says nothing.
func (r reviews) leaks(path, text string) []string {
	explains := func(namespace string, resources ...string) bool { // E1a: an explanation shows the clusters in the scope of the namespace.
		return slices.ContainsFunc(resources, func(resource string) bool { return r.may("get", resource, namespace, "") })
	}
	clusters := r.may("list", "managedclusters", "", "") || r.may("get", "managedclusters", "", "")
	delivered := []string{"placements", "configmaps", "secrets", "deployments"}
	reads := func(resource, namespace string) bool {
		return r.may("get", resource, namespace, "") || r.may("list", resource, namespace, "")
	}
	listed := func(namespace string) bool {
		return slices.ContainsFunc(delivered, func(resource string) bool { return r.may("list", resource, namespace, "") })
	}
	var leaked []string
	for _, name := range []struct {
		text  string
		known bool
	}{
		{"every", reads("placements", "team-a")},
		{"theirs", reads("placements", "team-b") || reads("clusterrequests", "team-b")},
		{">eu1<", clusters || explains("team-a", delivered...) || listed("team-a")},
		{">edge1<", clusters || explains("team-a", delivered...) || listed("team-a")},
		{">hidden<", clusters || explains("team-b", delivered...)},
		{`"name": "hidden"`, clusters || explains("team-b", delivered...)},
		{"settings", reads("configmaps", "team-a")},
		{"Secret/team-a/key", reads("secrets", "team-a")},
		{">n1<", r.may("list", "nodes", "", "")},
		{"team-a/ci", reads("clusterrequests", "team-a") || r.may("list", "clusterrequests", "", "")},
	} {
		inURL, err := url.QueryUnescape(path)
		if err == nil && strings.Contains(text, name.text) && !name.known && !strings.Contains(inURL, strings.Trim(name.text, "<>")) {
			leaked = append(leaked, fmt.Sprintf("%q", name.text))
		}
	}
	return leaked
}

// A user with few rights has the pages of placement dashboard from the answers of the hub.
func TestE1aTheHubAnswersForThePagesOfOneUser(t *testing.T) {
	roles := fakehub.NewRoles(t, "../../..")
	server := httptest.NewTLSServer(endpoint.New(roles, roles, fakehub.NewExplainer(t)))
	defer server.Close()
	address := endpoint.Address{
		URL: server.URL, Authorities: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	}
	config := &rest.Config{
		BearerToken: strings.Join([]string{fakehub.RoleView, fakehub.RoleEdit, fakehub.RoleRequester, fakehub.KubernetesView}, " "),
	}

	explainer := fakehub.NewExplainer(t)
	explainer.Client = access.NewReader(explainer.Client, reviews{}, &user.DefaultInfo{Name: "jane"}) // It may read nothing by itself.
	explainer.Limited = false
	hub := &Own{
		Broadcast: NewBroadcast(), Explainer: explainer, Namespace: "team-a",
		Ask: func(ctx context.Context, _ client.Reader, question endpoint.Question) (endpoint.Answer, error) {
			return endpoint.Ask(ctx, config, address, question)
		},
	}
	every := endpoint.Object{Group: "cluster.open-cluster-management.io", Kind: "Placement", Name: "every"}
	const changed = "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: every, namespace: team-a}\n" +
		"spec: {numberOfClusters: 1}\n"
	for reason, tc := range map[string]struct {
		question endpoint.Question
		want     string
	}{
		"a Placement": {endpoint.Question{Command: endpoint.CommandExplain, Objects: []endpoint.Object{every}}, "all 3 feasible selected"},
		"a cluster": {
			endpoint.Question{Command: endpoint.CommandExplain, Objects: []endpoint.Object{every}, Clusters: []string{"eu1"}}, "set prod",
		},
		"an edited Placement": {
			endpoint.Question{Command: endpoint.CommandDiff, Objects: []endpoint.Object{every}, Manifests: changed}, "team-a/every",
		},
		"a request": {
			endpoint.Question{Command: endpoint.CommandExplain, Objects: []endpoint.Object{tools.RequestObject("ci")}}, "NoMatchingProfile",
		},
		"a workload": {
			endpoint.Question{
				Command: endpoint.CommandExplain, Objects: []endpoint.Object{{Group: "apps", Kind: "Deployment", Name: "web"}},
			}, "Deployment team-a/web",
		},
		"a delivered object": {
			endpoint.Question{Command: endpoint.CommandExplain, Objects: []endpoint.Object{{Kind: "ConfigMap", Name: "settings"}}},
			"ConfigMap/team-a/settings",
		},
		"the delivered objects of a namespace": {
			endpoint.Question{Command: endpoint.CommandFederated, Kinds: []endpoint.KindRef{{Kind: "ConfigMap"}}}, "ConfigMap/team-a/settings",
		},
	} {
		t.Run(reason, func(t *testing.T) {
			tc.question.Namespace = "team-a"
			found, err := hub.Explain(t.Context(), nil, dashboard.Question{Question: tc.question})
			expect.NoError(t, err)
			var text strings.Builder
			expect.NoError(t, printers.Print(&text, printers.FormatTable, found, printers.Style{}))
			if !strings.Contains(text.String(), tc.want) {
				t.Errorf("%q is missing: %s", tc.want, text.String())
			}
		})
	}
}

// An answer about objects that have no tool is no answer about delivered objects.
func TestAnswersOfUnknownFamiliesAreRefused(t *testing.T) {
	for _, family := range []string{"", "purposes"} {
		found, err := decodeAnswer(endpoint.CommandExplain, family, "{}")
		expect.Error(t, err, []string{"the hub explains no objects of the family"})
		if found != nil {
			t.Errorf("the answer of the family %q is %v", family, found)
		}
	}
}
