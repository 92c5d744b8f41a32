// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/manifests/internal/crdsource"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
)

// upstreamPrefix begins the names of the files that are copied from open-cluster-management.io/api.
const upstreamPrefix = "cluster.open-cluster-management.io_"

func TestObjectsAreInApplyOrder(t *testing.T) {
	objs := objects(t)
	var got []string
	for _, obj := range objs {
		got = append(got, describe(obj))
	}
	want := []string{
		"CustomResourceDefinition addonplacementscores.cluster.open-cluster-management.io",
		"CustomResourceDefinition managedclusters.cluster.open-cluster-management.io",
		"CustomResourceDefinition managedclustersetbindings.cluster.open-cluster-management.io",
		"CustomResourceDefinition managedclustersets.cluster.open-cluster-management.io",
		"CustomResourceDefinition placementdecisions.cluster.open-cluster-management.io",
		"CustomResourceDefinition placementdecisions.placement.open-cluster-management.io",
		"CustomResourceDefinition placements.cluster.open-cluster-management.io",
		"CustomResourceDefinition placements.placement.open-cluster-management.io",
		"Namespace open-cluster-management-hub",
		"ServiceAccount open-cluster-management-hub/placement-controller-sa",
		"ClusterRole open-cluster-management:placement-hub:admin",
		"ClusterRole open-cluster-management:placement-hub:clusterset-roles",
		"ClusterRole open-cluster-management:placement-hub:clustersetbinding-rbac",
		"ClusterRole open-cluster-management:placement-hub:debug",
		"ClusterRole open-cluster-management:placement-hub:edit",
		"ClusterRole open-cluster-management:placement-hub:fleet-view",
		"ClusterRole open-cluster-management:placement-hub:left-finalizers",
		"ClusterRole open-cluster-management:placement-hub:managedcluster-defaults",
		"ClusterRole open-cluster-management:placement-hub:managedcluster-taints",
		"ClusterRole open-cluster-management:placement-hub:placement",
		"ClusterRole open-cluster-management:placement-hub:placement-v1alpha1",
		"ClusterRole open-cluster-management:placement-hub:sets",
		"ClusterRole open-cluster-management:placement-hub:tenant",
		"ClusterRole open-cluster-management:placement-hub:view",
		"ClusterRoleBinding open-cluster-management:placement-hub:clusterset-roles",
		"ClusterRoleBinding open-cluster-management:placement-hub:clustersetbinding-rbac",
		"ClusterRoleBinding open-cluster-management:placement-hub:left-finalizers",
		"ClusterRoleBinding open-cluster-management:placement-hub:managedcluster-defaults",
		"ClusterRoleBinding open-cluster-management:placement-hub:managedcluster-taints",
		"ClusterRoleBinding open-cluster-management:placement-hub:placement",
		"ClusterRoleBinding open-cluster-management:placement-hub:placement-v1alpha1",
		"ClusterRoleBinding open-cluster-management:placement-hub:sets",
		"Role open-cluster-management-hub/open-cluster-management:placement-hub:explanations",
		"Role open-cluster-management-hub/open-cluster-management:placement-hub:explanations-address",
		"Role open-cluster-management-hub/open-cluster-management:placement-hub:leader-election",
		"Role open-cluster-management-hub/open-cluster-management:placement-hub:managedcluster-defaults",
		"Role open-cluster-management-hub/open-cluster-management:placement-hub:vocabulary",
		"RoleBinding open-cluster-management-hub/open-cluster-management:placement-hub:explanations",
		"RoleBinding open-cluster-management-hub/open-cluster-management:placement-hub:explanations-address",
		"RoleBinding open-cluster-management-hub/open-cluster-management:placement-hub:leader-election",
		"RoleBinding open-cluster-management-hub/open-cluster-management:placement-hub:managedcluster-defaults",
		"RoleBinding open-cluster-management-hub/open-cluster-management:placement-hub:vocabulary",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-affected",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-bindings",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-bindings-deletion",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-clusters",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-limits",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-limits-v1alpha1",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-placements",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-readable",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-readable-clusters",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-readable-placements",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-readable-scores",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-readable-v1alpha1-placements",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-vocabulary",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-affected",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-bindings",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-bindings-deletion",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-clusters",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-limits",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-limits-v1alpha1",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-placements",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-readable",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-readable-clusters",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-readable-placements",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-readable-scores",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-readable-v1alpha1-placements",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-vocabulary",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Objects() (-want +got):\n%s", diff)
	}
	for _, obj := range objs {
		if _, found := obj.Object["status"]; found {
			t.Errorf("%s carries a status: that is the API server's to write", describe(obj))
		}
	}
}

func TestObjectsAreFreshCopies(t *testing.T) {
	first := objects(t)
	first[0].SetName("changed")
	if second := objects(t); second[0].GetName() == "changed" {
		t.Error("a change of one call's result shows in the next call's")
	}
}

func TestDefinitionsAreTheUpstreamOnes(t *testing.T) {
	want, err := crdsource.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]byte{}
	for directory, prefix := range map[string]string{"crds": upstreamPrefix, manifestWorks: "work.open-cluster-management.io_"} {
		for name, content := range definitionFiles(t, directory, prefix) {
			got[path.Join(directory, name)] = content
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("crds differ from open-cluster-management.io/api; run make generate (-module +here):\n%s", diff)
	}
}

// make verify checks that the files are up to date.
func TestOwnDefinitionsAreThoseOfTheGoTypes(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, install := range []func(*runtime.Scheme) error{
		placementv1alpha1.Install, kupidv1alpha1.Install, cozystackv1alpha1.Install, appsv1alpha1.Install,
		openmcpv1alpha1.Install, loopbackv1alpha1.Install,
	} {
		if err := install(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for directory, want := range map[string][]string{
		"crds": {"Placement", "PlacementDecision"}, PodScheduling: {"ClusterPodSchedulingPolicy", "PodSchedulingPolicy"},
		AffinityClass: {"AffinityClass", "Tenant"},
		ClusterRequest: {
			"AccessRequest", "Cluster", "ClusterProvider", "ClusterRequest", "ClusterRequestGrant", "ProviderConfig", "Purpose",
			"TraitEquivalence",
		},
	} {
		var got []string
		for name, content := range definitionFiles(t, directory, "") {
			if strings.HasPrefix(name, upstreamPrefix) || !strings.Contains(name, "_") { // A system has other objects, too.
				continue
			}
			got = append(got, checkOwnDefinition(t, scheme, name, content)...)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kinds in %s (-want +got):\n%s", directory, diff)
		}
	}
}

// checkOwnDefinition returns the kinds of a file of CustomResourceDefinitions.
func checkOwnDefinition(t *testing.T, scheme *runtime.Scheme, name string, content []byte) []string {
	t.Helper()
	objs, err := Decode(bytes.NewReader(content), name)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, obj := range objs {
		var crd apiextensionsv1.CustomResourceDefinition
		convert(t, obj, &crd)
		for _, version := range crd.Spec.Versions {
			gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
			if !scheme.Recognizes(gvk) {
				t.Errorf("%s: no Go type is registered for %s", name, gvk)
			}
		}
		if want := crd.Spec.Group + "_" + crd.Spec.Names.Plural + ".yaml"; name != want {
			t.Errorf("%s: want the name %s", name, want)
		}
		kinds = append(kinds, crd.Spec.Names.Kind)
	}
	return kinds
}

// definitionFiles returns the files in a directory whose name has the prefix.
func definitionFiles(t *testing.T, directory, prefix string) map[string][]byte {
	t.Helper()
	entries, err := fs.ReadDir(files, directory)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	for _, entry := range entries {
		if entry.Name() == kustomization || !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		if found[entry.Name()], err = files.ReadFile(path.Join(directory, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestRulesNameWhatTheyGrant(t *testing.T) {
	for _, obj := range allObjects(t) {
		if obj.GetKind() != "ClusterRole" && obj.GetKind() != "Role" {
			continue
		}
		var role rbacv1.ClusterRole
		convert(t, obj, &role)
		if len(role.Rules) == 0 {
			t.Errorf("%s has no rules", describe(obj))
		}
		for i, rule := range role.Rules {
			for _, word := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs) {
				// Below this path there is one for each placement, and the right to that placement is required, too.
				if strings.Contains(word, "*") && word != "/debug/placements/*" {
					t.Errorf("%s: rules[%d] has the wildcard %q", describe(obj), i, word)
				}
			}
			if len(rule.NonResourceURLs) > 0 && len(rule.Verbs) > 0 {
				continue
			}
			if len(rule.APIGroups) == 0 || len(rule.Resources) == 0 || len(rule.Verbs) == 0 {
				t.Errorf("%s: rules[%d] lacks apiGroups, resources or verbs", describe(obj), i)
			}
		}
	}
}

// Who may write Placements and sets is a promise to admins, so the test repeats the table.
func TestWriteRights(t *testing.T) {
	const (
		group = "cluster.open-cluster-management.io"
		older = "placement.open-cluster-management.io"
	)
	everyWrite := []string{"create", "delete", "deletecollection", "patch", "update"}
	cases := []struct {
		role, reason string
		want         map[string][]string
	}{
		{
			role:   "open-cluster-management:placement-hub:placement",
			reason: "only decisions and the status of placements are written by the placement controller",
			want: map[string][]string{
				"events.k8s.io/events":                      {"create", "patch"},
				group + "/placementdecisions":               {"create", "delete", "patch"},
				group + "/placementdecisions/status":        {"patch"},
				group + "/placements/status":                {"patch"},
				group + "/placements/finalizers":            {"update"},
				"authentication.k8s.io/tokenreviews":        {"create"},
				"authorization.k8s.io/subjectaccessreviews": {"create"},
			},
		},
		{
			role:   "open-cluster-management:placement-hub:sets",
			reason: "sets are never deleted by the hub, and bindings only get their condition",
			want: map[string][]string{
				group + "/managedclustersets":               {"create", "update"},
				group + "/managedclustersets/status":        {"patch"},
				group + "/managedclustersetbindings/status": {"patch"},
			},
		},
		{
			role:   "open-cluster-management:placement-hub:clustersetbinding-rbac",
			reason: "bindings are kept whole, and their creator may bind every set; roles and accounts are only read",
			want: map[string][]string{
				group + "/managedclustersetbindings":        {"create", "delete", "update"},
				group + "/managedclustersets/bind":          {"create"},
				"authorization.k8s.io/subjectaccessreviews": {"create"},
				"events.k8s.io/events":                      {"create", "patch"},
			},
		},
		{
			role:   "open-cluster-management:placement-hub:clusterset-roles",
			reason: "ClusterRoles are made and put back, and what they grant is held; nothing is deleted",
			want: map[string][]string{
				"rbac.authorization.k8s.io/clusterroles":                     {"create", "update"},
				group + "/managedclustersets":                                {"update"},
				group + "/managedclustersets/bind":                           {"create"},
				group + "/managedclustersets/join":                           {"create"},
				group + "/managedclusters":                                   {"create"},
				"register.open-cluster-management.io/managedclusters/accept": {"update"},
			},
		},
		{
			role:   "open-cluster-management:placement-hub:managedcluster-taints",
			reason: "taints are in the spec; clusters are neither made, nor deleted, nor is their status written",
			want:   map[string][]string{group + "/managedclusters": {"patch"}},
		},
		{
			role:   "open-cluster-management:placement-hub:placement-v1alpha1",
			reason: "decisions and the status of placements of the older API too",
			want: map[string][]string{
				older + "/placementdecisions":    {"create", "delete", "patch"},
				older + "/placements/status":     {"patch"},
				older + "/placements/finalizers": {"update"},
			},
		},
		{
			role:   "open-cluster-management:placement-hub:multicluster",
			reason: "ClusterProfiles belong to others",
			want:   map[string][]string{"multicluster.x-k8s.io/placementdecisions": {"create", "delete", "patch"}},
		},
		{
			role:   "open-cluster-management:placement-hub:vocabulary",
			reason: "one ConfigMap, of the hub's own namespace",
			want:   map[string][]string{"configmaps": {"create", "update"}},
		},
		{
			role:   "open-cluster-management:placement-hub:history",
			reason: "64 ConfigMaps of the hub's own namespace",
			want:   map[string][]string{"configmaps": {"create", "delete", "update"}},
		},
		{
			role:   "open-cluster-management:placement-hub:explanations",
			reason: "one ConfigMap, of the hub's own namespace",
			want:   map[string][]string{"configmaps": {"create", "update"}},
		},
		{
			role: "open-cluster-management:placement-hub:explanations-address", reason: "every user reads one ConfigMap, and writes nothing",
			want: map[string][]string{},
		},
		{role: "open-cluster-management:placement-hub:view", reason: "who views writes nothing", want: map[string][]string{}},
		{
			role: "open-cluster-management:placement-hub:edit", reason: "nobody but the hub writes decisions or a status",
			want: map[string][]string{
				group + "/placements": everyWrite, group + "/managedclustersetbindings": everyWrite, older + "/placements": everyWrite,
			},
		},
		{
			role: "open-cluster-management:placement-hub:admin", reason: "nor does who administers a namespace",
			want: map[string][]string{
				group + "/placements": everyWrite, group + "/managedclustersetbindings": everyWrite, older + "/placements": everyWrite,
			},
		},
		{role: "open-cluster-management:placement-hub:tenant", reason: "sets are looked up", want: map[string][]string{}},
		{role: "open-cluster-management:placement-hub:debug", reason: "questions change nothing", want: map[string][]string{}},
		{
			role:   "open-cluster-management:placement-hub:managedcluster-defaults",
			reason: "one Secret, of the hub's own namespace, and what API servers trust of its webhook",
			want: map[string][]string{
				"secrets": {"create", "update"},
				"admissionregistration.k8s.io/mutatingwebhookconfigurations":   {"patch"},
				"admissionregistration.k8s.io/validatingwebhookconfigurations": {"patch"},
			},
		},
		{
			role:   "open-cluster-management:placement-hub:leader-election",
			reason: "leases in the hub's own namespace only",
			want:   map[string][]string{"coordination.k8s.io/leases": {"create", "update"}},
		},
	}
	for _, tc := range cases {
		t.Run(tc.role, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, writes(rules(t, tc.role))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBindingsGiveEachRoleToTheServiceAccount(t *testing.T) {
	for _, obj := range allObjects(t) {
		if obj.GetKind() != "ClusterRoleBinding" && obj.GetKind() != "RoleBinding" {
			continue
		}
		var binding rbacv1.ClusterRoleBinding
		convert(t, obj, &binding)
		expectObject(t, binding.RoleRef.Kind, binding.RoleRef.Name)
		if binding.RoleRef.Name != obj.GetName() || binding.RoleRef.Kind+"Binding" != obj.GetKind() {
			t.Errorf("%s binds %s %s, want the role of its own name", describe(obj), binding.RoleRef.Kind, binding.RoleRef.Name)
		}
		want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: ServiceAccount, Namespace: Namespace}}
		if obj.GetName() == "multicluster.x-k8s.io:clusterprofile-publisher" { // Open Cluster Management makes the ClusterProfiles.
			want[0].Name = "registration-controller-sa"
		}
		if obj.GetName() == "open-cluster-management:placement-hub:explanations-address" { // Who may not read it does not know where to ask.
			want = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}}
		}
		if diff := cmp.Diff(want, binding.Subjects); diff != "" {
			t.Errorf("%s: subjects (-want +got):\n%s", describe(obj), diff)
		}
	}
}

// The admin of a hub decides who gets the roles for people. The labels are those of Kubernetes for its own roles.
func TestRolesForPeople(t *testing.T) {
	const prefix = "open-cluster-management:placement-hub:"
	want := map[string]map[string]string{
		prefix + "view":   {"rbac.authorization.k8s.io/aggregate-to-view": "true"},
		prefix + "edit":   {"rbac.authorization.k8s.io/aggregate-to-edit": "true"},
		prefix + "admin":  {"rbac.authorization.k8s.io/aggregate-to-admin": "true"},
		prefix + "tenant": nil,
		prefix + "debug":  nil,
	}
	got := map[string]map[string]string{}
	for _, obj := range allObjects(t) {
		switch obj.GetKind() {
		case "ClusterRole":
			if _, found := want[obj.GetName()]; found || len(obj.GetLabels()) > 0 {
				got[obj.GetName()] = obj.GetLabels()
			}
		case "ClusterRoleBinding":
			if _, found := want[obj.GetName()]; found {
				t.Errorf("%s gives a role for people away", describe(obj))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels of the roles for people (-want +got):\n%s", diff)
	}
	wantTenant := []rbacv1.PolicyRule{{
		APIGroups: []string{"cluster.open-cluster-management.io"}, Resources: []string{"managedclustersets"}, Verbs: []string{"get", "list"},
	}}
	if diff := cmp.Diff(wantTenant, rules(t, prefix+"tenant")); diff != "" {
		t.Errorf("U19: tenants get and list cluster sets (-want +got):\n%s", diff)
	}
	wantDebug := []rbacv1.PolicyRule{{NonResourceURLs: []string{"/debug/placements/*"}, Verbs: []string{"get", "post"}}}
	if diff := cmp.Diff(wantDebug, rules(t, prefix+"debug")); diff != "" {
		t.Errorf("1.17: the debug endpoint is asked by GET and POST (-want +got):\n%s", diff)
	}
}

// rules returns the rules of the ClusterRole and of the Role of a name.
func rules(t *testing.T, name string) []rbacv1.PolicyRule {
	t.Helper()
	var found []rbacv1.PolicyRule
	for _, obj := range allObjects(t) {
		if obj.GetName() == name && (obj.GetKind() == "ClusterRole" || obj.GetKind() == "Role") {
			var role rbacv1.ClusterRole
			convert(t, obj, &role)
			found = append(found, role.Rules...)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no role with rules is named %q", name)
	}
	return found
}

// writes maps group/resource to the sorted verbs that modify objects.
func writes(rules []rbacv1.PolicyRule) map[string][]string {
	found := map[string][]string{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					if verb != "get" && verb != "list" && verb != "watch" {
						key := path.Join(group, resource)
						found[key] = append(found[key], verb)
					}
				}
			}
		}
	}
	for _, verbs := range found {
		slices.Sort(verbs)
	}
	return found
}
