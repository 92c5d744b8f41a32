// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/controller"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	placements "github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/expect"
)

func TestCheckResources(t *testing.T) {
	access, err := system.Options{
		Controllers: []string{"*", "podscheduling/*", "affinityclass/*", "clusterprofiles"}, ProfileDecisions: true,
	}.Access()
	expect.NoError(t, err)
	serve := func(leaveOut ...string) *fake.Clientset {
		client := fake.NewClientset()
		byVersion := map[string]*metav1.APIResourceList{}
		for _, r := range access.Reads {
			version := r.GroupVersion().String()
			list, ok := byVersion[version]
			if !ok {
				list = &metav1.APIResourceList{GroupVersion: version}
				byVersion[version] = list
			}
			left := func(prefix string) bool { return strings.HasPrefix(r.Resource+"."+r.Group, prefix) }
			if !slices.ContainsFunc(leaveOut, left) {
				list.APIResources = append(list.APIResources, metav1.APIResource{Name: r.Resource})
			}
		}
		for _, list := range byVersion {
			if len(list.APIResources) > 0 {
				client.Resources = append(client.Resources, list)
			}
		}
		return client
	}
	for _, tc := range []struct {
		reason   string
		leaveOut []string
		want     []string
	}{
		{reason: "everything is there"},
		{reason: "one resource of a version is missing", leaveOut: []string{"placements.cluster"},
			want: []string{"placements.cluster.open-cluster-management.io/v1beta1", "CustomResourceDefinitions"}},
		{reason: "a whole version is missing", leaveOut: []string{"addonplacementscores"},
			want: []string{"addonplacementscores.cluster.open-cluster-management.io/v1alpha1"}},
		{reason: "two are missing", leaveOut: []string{"managedclusters.", "placementdecisions.cluster"},
			want: []string{"managedclusters", "placementdecisions"}},
		{reason: "the older API is missing", leaveOut: []string{"placements.placement", "placementdecisions.placement"},
			want: []string{"placements.placement.open-cluster-management.io/v1alpha1", "leave the controller placement-v1alpha1 off"}},
		{reason: "there are no ClusterProfiles", leaveOut: []string{"clusterprofiles"},
			want: []string{"clusterprofiles.multicluster.x-k8s.io/v1alpha1", "leave --sig-placement-decisions off"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect.Error(t, checkResources(t.Context(), serve(tc.leaveOut...), access.Reads, access.Required), tc.want)
		})
	}
}

func TestCheckRights(t *testing.T) {
	lease := election.Options{Namespace: "hub"}
	needed, err := controllersNeed(system.Options{Controllers: []string{"placement"}}, lease)
	expect.NoError(t, err)
	for _, tc := range []struct {
		reason string
		denied []string
		want   []string
	}{
		{reason: "everything is allowed"},
		{
			reason: "what is denied is listed", denied: []string{"list placements", "patch placements/status", "update leases"},
			want: []string{
				"list placements.cluster.open-cluster-management.io\n", "patch placements/status.cluster.open-cluster-management.io",
				"update leases.coordination.k8s.io in namespace hub", "manifests/rbac",
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			client := fake.NewClientset()
			client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
				review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
				r := review.Spec.ResourceAttributes
				asked := strings.TrimSuffix(r.Verb+" "+r.Resource+"/"+r.Subresource, "/")
				review.Status.Allowed = !slices.Contains(tc.denied, asked)
				return true, review, nil
			})
			expect.Error(t, checkRights(t.Context(), client, needed.all(), roleHint), tc.want)
		})
	}
}

func TestRequiredRights(t *testing.T) {
	lease := election.Options{Namespace: "hub"}
	const createSets = "create managedclustersets.cluster.open-cluster-management.io"
	for _, tc := range []struct {
		reason        string
		enabled       []string
		disable       bool
		profiles      bool
		with, without string
	}{
		{reason: "placement writes decisions", enabled: []string{"placement"},
			with: "create placementdecisions.cluster.open-cluster-management.io", without: createSets},
		{reason: "without placement nobody does", enabled: []string{"clusterset"},
			with:    "list managedclustersets.cluster.open-cluster-management.io",
			without: "create placementdecisions.cluster.open-cluster-management.io"},
		{reason: "the sets default and global are made", enabled: []string{"clusterset"}, with: createSets,
			without: "patch placements/status.cluster.open-cluster-management.io"},
		{reason: "bindings get their condition", enabled: []string{"clustersetbinding"},
			with: "patch managedclustersetbindings/status.cluster.open-cluster-management.io", without: createSets},
		{reason: "clusters get their taints", enabled: []string{"managedcluster-taints"},
			with:    "patch managedclusters.cluster.open-cluster-management.io",
			without: "list managedclustersets.cluster.open-cluster-management.io"},
		{reason: "accounts are followed by their name", enabled: []string{"clustersetbinding-rbac"},
			with: "watch serviceaccounts named placement", without: "list serviceaccounts"},
		{reason: "whoever creates bindings may bind", enabled: []string{"clustersetbinding-rbac"},
			with:    "create managedclustersets/bind.cluster.open-cluster-management.io",
			without: "patch managedclustersetbindings/status.cluster.open-cluster-management.io"},
		{reason: "the older API is its own controller", enabled: []string{"placement-v1alpha1"},
			with:    "create placementdecisions.placement.open-cluster-management.io",
			without: "create placementdecisions.cluster.open-cluster-management.io"},
		{reason: "the older API is not needed for the newer one", enabled: []string{"placement"},
			with: "list placements.cluster.open-cluster-management.io", without: "list placements.placement.open-cluster-management.io"},
		{reason: "ClusterProfiles are read when they are referenced", enabled: []string{"placement"}, profiles: true,
			with: "watch clusterprofiles.multicluster.x-k8s.io", without: createSets},
		{reason: "and else not", enabled: []string{"placement"},
			with: "list placements.cluster.open-cluster-management.io", without: "watch clusterprofiles.multicluster.x-k8s.io"},
		{reason: "the vocabulary is followed by its name", enabled: []string{"vocabulary"},
			with: "watch configmaps named placement-vocabulary in namespace hub", without: "watch configmaps named placement-vocabulary"},
		{reason: "and made where the hub lives", enabled: []string{"vocabulary"},
			with: "create configmaps in namespace hub", without: "create configmaps"},
		{reason: "the ClusterRoles of sets are made", enabled: []string{"clusterset-roles"},
			with: "create clusterroles.rbac.authorization.k8s.io", without: createSets},
		{reason: "and what they grant must be held", enabled: []string{"clusterset-roles"},
			with:    "update managedclusters/accept.register.open-cluster-management.io",
			without: "list managedclusters.cluster.open-cluster-management.io"},
		{reason: "nobody else needs ConfigMaps", enabled: []string{"placement", "clusterset", "clustersetbinding"},
			with: createSets, without: "list configmaps named placement-vocabulary in namespace hub"},
		{reason: "certificates are kept where the hub lives", enabled: []string{"managedcluster-defaults"},
			with: "update secrets named placement-webhook-certificates in namespace hub", without: "create secrets"},
		{reason: "and given to the webhook configurations of the hub alone", enabled: []string{"managedcluster-defaults"},
			with:    "patch mutatingwebhookconfigurations.admissionregistration.k8s.io named open-cluster-management-placement-hub-managedclusters",
			without: "patch mutatingwebhookconfigurations.admissionregistration.k8s.io"},
		{reason: "without election there is no lease", enabled: []string{"placement"}, disable: true,
			with:    "patch placements/status.cluster.open-cluster-management.io",
			without: "get leases.coordination.k8s.io in namespace hub"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			lease := lease
			lease.Disable = tc.disable
			needed, err := controllersNeed(system.Options{Controllers: tc.enabled, Namespace: "hub", ProfileDecisions: tc.profiles}, lease)
			expect.NoError(t, err)
			var got []string
			for _, r := range needed.all() {
				got = append(got, r.String())
			}
			if !slices.Contains(got, tc.with) || slices.Contains(got, tc.without) {
				t.Errorf("want %q and not %q in %q", tc.with, tc.without, got)
			}
		})
	}
}

// Whoever only reads needs no right to write but to ask about its callers.
func TestObserverRights(t *testing.T) {
	placement := system.Options{Controllers: []string{"placement"}}
	needed, err := observerNeeds(placement)
	expect.NoError(t, err)
	var got []string
	for _, r := range needed.all() {
		if r.verb != "list" && r.verb != "watch" {
			got = append(got, r.String())
		} else if r.resource == "placementdecisions" {
			got = append(got, r.verb)
		}
	}
	want := []string{"list", "watch", "create tokenreviews.authentication.k8s.io", "create subjectaccessreviews.authorization.k8s.io"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A controller without rules would start without its prerequisites.
func TestEveryControllerHasRules(t *testing.T) {
	for _, name := range system.Names() {
		access, err := system.Options{Controllers: []string{name}}.Access()
		expect.NoError(t, err)
		for _, rules := range access.Rules {
			for _, resource := range append(rules.Resources, "")[:max(1, len(rules.Resources))] {
				only := systems.Rules{Role: rules.Role}
				if resource != "" {
					only.Resources = []string{resource}
				}
				if _, err := rightsOf("hub", only); err != nil {
					t.Errorf("controller %s: %v", name, err)
				}
			}
		}
		if len(access.Rules) == 0 {
			t.Errorf("nothing is known of what the controller %s writes", name)
		}
	}
}

// A role of the manifests that no controller names would be granted and never checked.
func TestEveryRoleIsOfAController(t *testing.T) {
	roles, err := manifests.Roles()
	expect.NoError(t, err)
	access, err := system.Options{
		Controllers:      []string{"*", "podscheduling/*", "affinityclass/*", "federation/*", "clusterrequest/*", "clusterprofiles/*"},
		ProfileDecisions: true,
		History:          system.HistoryOptions{Mode: system.HistoryConfigMaps, Bytes: system.DefaultHistoryBytes},
		Explanations:     func(manager.Manager) (*webhookserver.Published, error) { return nil, nil },
	}.Access()
	expect.NoError(t, err)
	people := []string{"admin", "debug", "edit", "fleet-view", "tenant", "view", "podscheduling-admin", "podscheduling-view",
		"affinityclass-view", "federation-view", "clusterrequest-access", "clusterrequest-admin", "clusterrequest-edit", "clusterrequest-purposes",
		"clusterrequest-tenant", "clusterrequest-view", "work-agent", "explanations-address"}
	others := []string{"leader-election", "argocd-refresh", "affinityclass-owner-readers", "federated-kinds", "left-finalizers"}
	for name := range roles {
		ofController := slices.ContainsFunc(access.Rules, func(rules systems.Rules) bool { return rules.Role == name })
		if !ofController && !slices.Contains(others, name) && !slices.Contains(people, name) {
			t.Errorf("role %s: no controller in the list of pkg/system has it in its access", name)
		}
	}
}

// The role placement is bound together with each other role, and grants what all of them read.
func TestRolesGrantWhatControllersRead(t *testing.T) {
	for _, name := range system.Names() {
		access, err := system.Options{Controllers: []string{name}}.Access()
		expect.NoError(t, err)
		granted, err := rightsOf("hub", append(access.Rules, systems.Rules{Role: "placement"})...)
		expect.NoError(t, err)
		for _, r := range (need{reads: access.Reads}).all() {
			every := r
			every.resource = "*" // Every resource of the group.
			if !slices.Contains(granted, r) && !slices.Contains(granted, every) {
				t.Errorf("no role grants controller %s to %s", name, r)
			}
		}
	}
}

// A proof that clusters may leave reads single objects. Without the right to, it would postpone each removal, so that the hub does not start.
func TestPlacementsNeedToReadSingleObjects(t *testing.T) {
	for _, name := range []string{placements.Name, placements.V1alpha1Name} {
		needed, err := controllersNeed(system.Options{Controllers: []string{name}}, election.Options{Disable: true})
		expect.NoError(t, err)
		for _, resource := range []string{"managedclusters", "managedclustersets", "managedclustersetbindings"} {
			if get := (right{verb: "get", group: clusterv1.GroupName, resource: resource}); !slices.Contains(needed.all(), get) {
				t.Errorf("the controller %s starts without the right to %s", name, get)
			}
		}
	}
}

// RBAC lets the controller create only ClusterRoles whose rights it has.
func TestRoleOfSetRolesGrantsWhatTheyGrant(t *testing.T) {
	granted, err := rightsOf("hub", systems.Rules{Role: "clusterset-roles"})
	expect.NoError(t, err)
	for _, r := range rightsIn(controller.GrantedByRoles(), nil, "") {
		if !slices.Contains(granted, r) {
			t.Errorf("the role clusterset-roles does not grant to %s", r)
		}
	}
}

// The kinds of --federated-kinds are resolved by the API server, and the rights on them are not in the manifests.
func TestFederatedKinds(t *testing.T) {
	client := fake.NewClientset()
	client.Resources = []*metav1.APIResourceList{
		{GroupVersion: "batch/v1", APIResources: []metav1.APIResource{{Name: "cronjobs", Kind: "CronJob", Namespaced: true}}},
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "persistentvolumes", Kind: "PersistentVolume"}}},
	}
	client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		review.Status.Allowed = review.Spec.ResourceAttributes.Verb == "get"
		return true, review, nil
	})
	for _, tc := range []struct {
		reason, kind string
		want         []string
	}{
		{reason: "the missing rights are listed", kind: "batch/v1/CronJob", want: []string{
			"list cronjobs.batch\n", "watch cronjobs.batch\n", "patch cronjobs.batch\n",
			"federation.kubernetes.io/aggregate-to-federated-kinds=true", "--federated-kinds",
		}},
		{reason: "a kind that is not served", kind: "batch/v1/Job"},
		{reason: "a cluster-scoped kind", kind: "v1/PersistentVolume", want: []string{"--federated-kinds: PersistentVolume of v1 is cluster-scoped"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o := system.Options{Controllers: []string{"federation/*"}, Namespace: "hub", FederatedKinds: []string{tc.kind}}
			needed, err := controllersNeed(o, election.Options{Disable: true})
			expect.NoError(t, err)
			rights, err := rightsOfAdded(t.Context(), client, needed.added[0])
			if err == nil {
				err = checkRights(t.Context(), client, rights, needed.added[0].Hint)
			}
			expect.Error(t, err, tc.want)
		})
	}
}

func TestCheckLeaseNamespace(t *testing.T) {
	leases := coordinationv1.SchemeGroupVersion.WithResource("leases").GroupResource()
	for _, tc := range []struct {
		reason string
		answer error
		want   []string
	}{
		{reason: "the lease could be made"},
		{reason: "there is one already", answer: apierrors.NewAlreadyExists(leases, "placement-lock")},
		{reason: "the namespace is missing", answer: apierrors.NewNotFound(leases, "hub"),
			want: []string{"namespace hub", "does not exist", "--namespace"}},
		{reason: "anything else is passed on", answer: apierrors.NewForbidden(leases, "placement-lock", nil),
			want: []string{"hub/placement-lock", "forbidden"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			client := fake.NewClientset()
			client.PrependReactor("create", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if dryRun := action.(clienttesting.CreateActionImpl).CreateOptions.DryRun; !slices.Equal(dryRun, []string{metav1.DryRunAll}) {
					t.Errorf("the lease was really made: dryRun = %q", dryRun)
				}
				return true, &coordinationv1.Lease{}, tc.answer
			})
			expect.Error(t, checkLeaseNamespace(t.Context(), client, election.Options{Namespace: "hub", Name: "placement-lock"}), tc.want)
		})
	}
}
