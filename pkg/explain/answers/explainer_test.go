// SPDX-License-Identifier: Apache-2.0

package answers_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/test/expect"
	"github.com/placement-hub/placement-hub/test/fakehub"
)

// askHub asks as a user with roles.
func askHub(t *testing.T, hub http.Handler, roles string, question endpoint.Question) (int, endpoint.Answer) {
	t.Helper()
	text, err := json.Marshal(question)
	expect.NoError(t, err)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, endpoint.Path, bytes.NewReader(text))
	request.Header.Set("Authorization", "Bearer "+roles)
	recorder := httptest.NewRecorder()
	hub.ServeHTTP(recorder, request)
	var answer endpoint.Answer
	expect.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &answer))
	return recorder.Code, answer
}

// docs/spec/differences.md E1a: simulate, diff and federated through the hub, as each shipped role. Nothing of another namespace, of a set that is
// not bound, or of a kind that the user may not list is shown.
func TestE1aTheHubSimulatesComparesAndReports(t *testing.T) {
	roles := fakehub.NewRoles(t, "../../..")
	hub := endpoint.New(roles, roles, fakehub.NewExplainer(t))
	placements := endpoint.KindRef{Group: "cluster.open-cluster-management.io", Kind: "Placement"}
	configMaps, secrets := endpoint.KindRef{Kind: "ConfigMap"}, endpoint.KindRef{Kind: "Secret"}
	every := endpoint.Object{Group: placements.Group, Kind: placements.Kind, Name: "every"}
	request := endpoint.Object{Group: "cluster.openmcp.cloud", Kind: "ClusterRequest", Name: "new"}
	purpose := endpoint.Object{Group: request.Group, Kind: "Purpose", Name: "workload"}
	simulate := func(q endpoint.Question) endpoint.Question { q.Command = endpoint.CommandSimulate; return q }
	report := func(q endpoint.Question) endpoint.Question { q.Command = endpoint.CommandFederated; return q }
	pod, policy := endpoint.Object{Kind: "Pod", Name: "new"}, endpoint.Object{Group: "kupid.gardener.cloud", Kind: "PodSchedulingPolicy", Name: "web"}
	add := func(manifests string, objects ...endpoint.Object) endpoint.Question {
		return endpoint.Question{Command: endpoint.CommandSimulate, Manifests: manifests, Objects: objects}
	}
	compare := func(manifests string, kinds []endpoint.KindRef, objects ...endpoint.Object) endpoint.Question {
		return endpoint.Question{Command: endpoint.CommandDiff, Manifests: manifests, Objects: objects, Kinds: kinds}
	}
	boundOthers := endpoint.Object{Group: placements.Group, Kind: "ManagedClusterSetBinding", Name: "others"}
	deployments := endpoint.KindRef{Group: "apps", Kind: "Deployment"}
	withWorkload := func(q endpoint.Question, name string) endpoint.Question {
		q.Workloads = []endpoint.Object{{Group: deployments.Group, Kind: deployments.Kind, Name: name}}
		return q
	}
	leavingOut := func(q endpoint.Question, count int) endpoint.Question { q.WorkloadsLeftOut = count; return q }
	const (
		newRequest = "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: ClusterRequest\nmetadata: {name: new}\nspec: {purposes: [workload]}\n"
		newPod     = "apiVersion: v1\nkind: Pod\nmetadata: {name: new, namespace: team-a, labels: {app: web}}\n" +
			"spec: {containers: [{name: c, image: i}]}\n"
		newPolicy = "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: PodSchedulingPolicy\nmetadata: {name: web, namespace: team-a}\n" +
			"spec: {podSelector: {matchLabels: {app: web}}, nodeSelector: {pool: web}}\n"
		binding = "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n" +
			"metadata: {name: others, namespace: team-a}\nspec: {clusterSet: others}\n"
		everyPlacement = "---\napiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: every}\nspec: {}\n"
		newSecret      = "apiVersion: v1\nkind: Secret\nmetadata: {name: new}\n"
	)
	for _, tc := range []struct {
		reason, roles string
		namespace     string
		question      endpoint.Question
		code          int
		differs       bool
		want, not     []string
	}{
		{
			reason: "every Placement, as view", roles: fakehub.RoleView, code: 200,
			question: simulate(endpoint.Question{Kinds: []endpoint.KindRef{placements}}),
			want:     []string{"team-a/every: all 3 feasible selected", "team-a/other: all 3 feasible selected"},
			not:      []string{"theirs", "hidden", "ConfigMap"},
		},
		{
			reason: "one Placement", roles: fakehub.RoleView, question: simulate(endpoint.Question{Objects: []endpoint.Object{every}}), code: 200,
			want: []string{"team-a/every: all 3 feasible selected"}, not: []string{"team-a/other"},
		},
		{
			reason: "delivered objects of a kind that the user may list", roles: fakehub.RoleView + " " + fakehub.KubernetesView, code: 200,
			question: simulate(endpoint.Question{Kinds: []endpoint.KindRef{placements, configMaps}}),
			want:     []string{"team-a/every", "ConfigMap/team-a/settings"}, not: []string{"Secret", "kube-root-ca"},
		},
		{
			reason: "a set less, as edit", roles: fakehub.RoleEdit, code: 200, differs: true,
			question: simulate(endpoint.Question{Kinds: []endpoint.KindRef{placements}, WithoutBindings: []string{"edge"}}),
			want:     []string{"what if: unbind edge from team-a", "team-a/every: 0 gained, 1 lost, 2 kept", "- edge1"},
			not:      []string{"theirs", "hidden"},
		},
		{
			reason: "a set less, with objects that are delivered", roles: fakehub.RoleEdit + " " + fakehub.KubernetesEdit, code: 200, differs: true,
			question: simulate(endpoint.Question{Kinds: []endpoint.KindRef{placements, configMaps}, WithoutBindings: []string{"edge"}}),
			want:     []string{"ConfigMap/team-a/settings: 0 gained, 1 lost"}, not: []string{"Secret"},
		},
		{
			reason: "a set less, as view", roles: fakehub.RoleView, code: 403,
			question: simulate(endpoint.Question{Kinds: []endpoint.KindRef{placements}, WithoutBindings: []string{"edge"}}),
			want:     []string{"may not delete managedclustersetbindings.cluster.open-cluster-management.io edge in namespace team-a"},
		},
		{
			reason: "a set that is not bound", roles: fakehub.RoleEdit, code: 200,
			question: simulate(endpoint.Question{Kinds: []endpoint.KindRef{placements}, WithoutBindings: []string{"others"}}),
			want:     []string{"there is no ManagedClusterSetBinding team-a/others"},
		},
		{
			reason: "a new Pod", roles: fakehub.KubernetesEdit, code: 200, question: add(newPod, pod),
			want: []string{"what if: add Pod team-a/new", "Pod team-a/new: ", "2 of 2 nodes fit, which are not named"},
			not:  []string{"n1", "n2", "no other workload"},
		},
		{
			reason: "a new Pod with a policy", roles: fakehub.KubernetesEdit + " " + fakehub.RolePolicies, code: 200,
			question: add(newPod+"---\n"+newPolicy, pod, policy),
			want: []string{"adds", "nodeSelector[pool]", "1 of 2 nodes fit, which are not named", "PodSchedulingPolicy team-a/web: new",
				"the hub lists none"},
			not: []string{"n1", "n2", "no other workload"},
		},
		{
			reason: "a policy, as edit", roles: fakehub.KubernetesEdit, code: 403, question: add(newPod+"---\n"+newPolicy, pod, policy),
			want: []string{"may not get podschedulingpolicies.kupid.gardener.cloud web"},
		},
		{
			reason: "a Pod, as view", roles: fakehub.KubernetesView, code: 403,
			question: add(newPod, pod), want: []string{"may not get pods new", "create pods"},
		},
		{
			reason: "a Node", roles: fakehub.KubernetesEdit, code: 200, question: add("apiVersion: v1\nkind: Node\nmetadata: {name: n3}\n", pod),
			want: []string{"the hub adds workloads and PodSchedulingPolicies", "fleet-view"},
		},
		{
			reason: "a Pod of another namespace", roles: fakehub.KubernetesEdit, code: 200,
			question: add(strings.ReplaceAll(newPod, "team-a", "team-b"), pod),
			want:     []string{"the manifests are of namespace team-b"},
		},
		{
			reason: "no role", question: simulate(endpoint.Question{Kinds: []endpoint.KindRef{placements}}), code: 403,
			want: []string{"may not list placements"},
		},
		{
			reason: "another namespace", roles: fakehub.RoleEdit, namespace: "team-b", code: 403, want: []string{"may not list placements"},
			question: simulate(endpoint.Question{Kinds: []endpoint.KindRef{placements}}),
		},
		{
			reason: "no Placement", roles: fakehub.RoleEdit, question: simulate(endpoint.Question{Kinds: []endpoint.KindRef{configMaps}}), code: 400,
			want: []string{"name the Placements to simulate"},
		},
		{
			reason: "U10: objects that are never delivered are counted", roles: fakehub.KubernetesEdit, code: 200,
			question: report(endpoint.Question{Kinds: []endpoint.KindRef{configMaps, secrets}}),
			want: []string{"ConfigMap/team-a/settings: 3 clusters selected", "Secret/team-a/key: 3 clusters selected",
				"1 object is never delivered"},
			not: []string{"kube-root-ca", "hidden"},
		},
		{
			reason: "Secrets, as view", roles: fakehub.KubernetesView,
			question: report(endpoint.Question{Kinds: []endpoint.KindRef{secrets}}), code: 403,
			want: []string{"may not list secrets"},
		},
		{
			reason: "one object", roles: fakehub.KubernetesView, code: 200, not: []string{"hidden"},
			question: report(endpoint.Question{Objects: []endpoint.Object{{Kind: "ConfigMap", Name: "settings"}}}),
			want:     []string{"ConfigMap/team-a/settings: 3 clusters selected", "to be delivered"},
		},
		{
			reason: "an object that does not exist, without a name that is similar", roles: fakehub.KubernetesEdit,
			code: 200, not: []string{"settings"},
			question: report(endpoint.Question{Objects: []endpoint.Object{{Kind: "ConfigMap", Name: "setting"}}}),
			want:     []string{"there is no ConfigMap setting; correct the name"},
		},
		{
			reason: "an object that is delivered, as edit", roles: fakehub.KubernetesEdit, code: 200, differs: true,
			question: compare(newSecret, nil, endpoint.Object{Kind: "Secret", Name: "new"}),
			want:     []string{"delivers 1 object newly", "Secret/team-a/new (new): 3 gained"}, not: []string{"hidden", "ConfigMap"},
		},
		{
			reason: "a binding of a set that the user may bind, beside a Placement", roles: fakehub.RoleEdit + " " + fakehub.RoleBindOthers,
			code: 200, differs: true,
			question: compare(binding+everyPlacement, nil, every, boundOthers),
			want:     []string{"team-a/every: 4 gained", "+ hidden", "objects that follow this Placement are not in the report"},
			not:      []string{"theirs", "other:", "ConfigMap"},
		},
		{
			reason: "a binding and what is delivered", roles: fakehub.RoleEdit + " " + fakehub.KubernetesView + " " + fakehub.RoleBindOthers,
			code: 200, differs: true,
			question: compare(binding, []endpoint.KindRef{configMaps}, boundOthers),
			want:     []string{"ConfigMap/team-a/settings: 1 gained", "hidden"}, not: []string{"Secret", "theirs"},
		},
		{
			reason: "a binding of a set that the user may not bind", roles: fakehub.RoleEdit, code: 403, not: []string{"hidden"},
			question: compare(binding+everyPlacement, nil, every, boundOthers),
			want: []string{"may not create managedclustersets.cluster.open-cluster-management.io/bind others",
				"a ClusterRoleBinding to " + fakehub.RoleBindOthers},
		},
		{
			reason: "a binding that the user may not write", roles: fakehub.RoleView + " " + fakehub.RoleBindOthers,
			code: 403, not: []string{"hidden"},
			question: compare(binding, nil, boundOthers),
			want: []string{"may not create managedclustersetbindings.cluster.open-cluster-management.io in namespace team-a",
				"a Role with these verbs"},
		},
		{
			reason: "a binding that the question does not name", roles: fakehub.RoleEdit + " " + fakehub.RoleBindOthers,
			code: 200, not: []string{"hidden"},
			question: compare(binding+everyPlacement, nil, every), want: []string{"ManagedClusterSetBinding others, which objects does not name"},
		},
		{
			reason: "a binding that names another set", roles: fakehub.RoleEdit + " " + fakehub.RoleBindOthers, code: 200, differs: true,
			not:      []string{"hidden"},
			question: compare(strings.Replace(binding, "clusterSet: others", "clusterSet: more", 1)+everyPlacement, nil, every, boundOthers),
			want: []string{
				"ManagedClusterSetBinding team-a/others would be refused, and is not in the comparison: ValidatingAdmissionPolicy ",
				"The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet",
			},
		},
		{
			reason: "a binding alone, for a user who may list nothing that is delivered", roles: fakehub.RoleEdit + " " + fakehub.RoleBindOthers,
			code:     200,
			question: compare(binding, nil, boundOthers), want: []string{"add the Placements of the namespace"}, not: []string{"hidden"},
		},
		{
			reason: "a policy, as admin", roles: fakehub.KubernetesEdit + " " + fakehub.RolePolicies, code: 200, differs: true,
			question: withWorkload(compare(newPolicy, []endpoint.KindRef{deployments}, policy), "web"),
			want: []string{"PodSchedulingPolicy team-a/web: new", "Deployment team-a/web: the next update adds nodeSelector[pool]",
				"1 of 2 nodes fit (2 before), which are not named", "workloads of the kinds ", "StatefulSet"},
			not: []string{"n1", "n2"},
		},
		{
			reason: "a policy and a workload that is gone, of more than a question names", roles: fakehub.KubernetesEdit + " " + fakehub.RolePolicies,
			code:     200,
			question: leavingOut(withWorkload(compare(newPolicy, []endpoint.KindRef{deployments}, policy), "gone"), 7),
			want:     []string{"PodSchedulingPolicy team-a/web: new", "7 more workloads are not in the report", "placement simulate --add"},
		},
		{
			reason: "a policy, for a user who may list no workload", roles: fakehub.RolePolicies, code: 200,
			question: compare(newPolicy, nil, policy), not: []string{"Deployment", "no other workload"},
			want: []string{"PodSchedulingPolicy team-a/web: new", "this user may list none in namespace team-a"},
		},
		{
			reason: "a policy and workloads that the user may not list", roles: fakehub.RolePolicies, code: 403, not: []string{"nodeSelector"},
			question: withWorkload(compare(newPolicy, []endpoint.KindRef{deployments}, policy), "web"),
			want:     []string{"may not list deployments.apps"},
		},
		{
			reason: "a policy to compare, as edit", roles: fakehub.KubernetesEdit, code: 403, not: []string{"nodeSelector"},
			question: withWorkload(compare(newPolicy, []endpoint.KindRef{deployments}, policy), "web"),
			want:     []string{"may not get podschedulingpolicies.kupid.gardener.cloud web", "nor create"},
		},
		{
			reason: "an object that the user may not write", roles: fakehub.KubernetesView, code: 403, want: []string{"may not get secrets new"},
			question: compare(newSecret, nil, endpoint.Object{Kind: "Secret", Name: "new"}),
		},
		{
			reason: "objects that the question does not name", roles: fakehub.RoleEdit, code: 200, question: compare(newSecret, nil, every),
			want: []string{"the manifests have or use Secret new, which objects does not name"},
		},
		{
			reason: "a ClusterRequest", roles: fakehub.RoleRequester + " " + fakehub.RolePurposes, code: 200, differs: true,
			question: compare(newRequest, nil, request, purpose),
			want:     []string{"ClusterRequests: another result for 1 request\n", "team-a/new: no request -> Denied"},
			not:      []string{"theirs", "if no request"},
		},
		{
			reason: "a ClusterRequest with a Purpose that the user may not use", roles: fakehub.RoleRequester, code: 403,
			question: compare(newRequest, nil, request, purpose), want: []string{"may not use purposes.cluster.openmcp.cloud workload"},
		},
		{
			reason: "a ClusterRequest with a Purpose that the question hides", roles: fakehub.RoleRequester, code: 200,
			question: compare(newRequest, nil, request), want: []string{"Purpose workload, which objects does not name"},
		},
		{
			reason: "a Purpose", roles: fakehub.RoleRequester + " " + fakehub.RolePurposes, code: 200, want: []string{"the files have other objects"},
			question: compare("apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: Purpose\n"+
				"metadata: {name: workload}\nspec: {tenancyLimit: 2}\n", nil, purpose),
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			tc.question.Namespace, tc.question.Output = "team-a", "table"
			if tc.namespace != "" {
				tc.question.Namespace = tc.namespace
			}
			code, answer := askHub(t, hub, tc.roles, tc.question)
			if code != tc.code || answer.Differs != tc.differs {
				t.Errorf("code %d, differs %t; want %d, %t", code, answer.Differs, tc.code, tc.differs)
			}
			said := answer.Output + answer.Error
			for _, part := range tc.want {
				if !strings.Contains(said, part) {
					t.Errorf("the answer lacks %q", part)
				}
			}
			for _, part := range tc.not {
				if strings.Contains(said, part) {
					t.Errorf("the answer shows %q", part)
				}
			}
			if t.Failed() {
				t.Log(said)
			}
		})
	}
}
