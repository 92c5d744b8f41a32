// SPDX-License-Identifier: Apache-2.0

package privilege

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// enforceOwners makes the API server ask for update on the finalizers of an owner that blocks its own deletion.
const enforceOwners = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"

// TestLeastPrivilege runs every controller as the ServiceAccount it has in a cluster, through all that they do. No request may be
// forbidden, and whatever is granted is either used, or held for a reason that shows when it is taken away.
func TestLeastPrivilege(t *testing.T) {
	h := suite.StartHub(t, enforceOwners)
	suite.Must(t, manifests.InstallMulticluster(t.Context(), h.Environment.AdminConfig()))
	applySamples(t, h)

	walkthrough(t, h)
	allowed, forbidden := requested(t, h)
	if len(allowed) == 0 {
		t.Fatal("the audit log knows no request of the controllers")
	}
	if len(forbidden) > 0 {
		t.Errorf("the ServiceAccount may not:%s", describe(forbidden))
	}

	var idle []privilege
	grants := distinct(granted(t, h))
	isHeld := func(granted privilege) bool {
		return slices.ContainsFunc(holdings(), func(holding holding) bool { return holding.covers(granted) })
	}
	for _, granted := range grants {
		held := isHeld(granted)
		used := slices.ContainsFunc(allowed, func(request privilege) bool {
			return granted.covers(request) && !(held && slices.ContainsFunc(grants, func(other privilege) bool {
				return !isHeld(other) && other.covers(request) // The request needs the other one.
			}))
		})
		if !held && !used {
			idle = append(idle, granted)
		}
		if held && used {
			t.Errorf("%s is used: it is no longer merely held", granted)
		}
	}
	if len(idle) > 0 {
		t.Errorf("granted, and never used; drop it from manifests/rbac, or let this test use it:%s", describe(idle))
	}
	for _, holding := range holdings() {
		t.Run("holding "+holding.String(), func(t *testing.T) { checkHolding(t, h, holding) })
	}
}

// holding is a privilege that is not used by a request of its own: the API server asks for it when another request is sent.
type holding struct {
	privilege
	attempt func() client.Object // what cannot be created without it
}

func (h holding) covers(granted privilege) bool { return h.privilege == granted }

func holdings() []holding {
	finalizers := func(role, group string, page client.Object) holding {
		return holding{
			privilege{role: manifestRole + role, verb: "update", group: group, resource: "placements/finalizers"},
			func() client.Object {
				page.SetNamespace("team-a")
				page.SetName("never-decision-1")
				page.SetOwnerReferences([]metav1.OwnerReference{{
					APIVersion: group + "/" + map[string]string{"placement": "v1beta1", "placement-v1alpha1": "v1alpha1"}[role],
					Kind:       "Placement", Name: "payments", UID: "1", Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
				}})
				return page
			},
		}
	}
	// Nobody may grant what he does not hold.
	grants := func(verb, group, resource string) holding {
		return holding{
			privilege{role: manifestRole + "clusterset-roles", verb: verb, group: group, resource: resource},
			func() client.Object {
				return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "never"}, Rules: []rbacv1.PolicyRule{
					{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}},
				}}
			},
		}
	}
	return []holding{
		finalizers("placement", clusterv1beta1.GroupName, &clusterv1beta1.PlacementDecision{}),
		finalizers("placement-v1alpha1", placementv1alpha1.GroupName, &placementv1alpha1.PlacementDecision{
			Decisions: []placementv1alpha1.ClusterDecision{},
		}),
		{
			// The admission policy asks whether the creator may bind.
			privilege{
				role: manifestRole + "clustersetbinding-rbac", verb: "create", group: clusterv1beta1.GroupName, resource: "managedclustersets/bind",
			},
			func() client.Object {
				return &clusterv1beta2.ManagedClusterSetBinding{
					ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "never"},
					Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "never"},
				}
			},
		},
		grants("get", clusterv1beta1.GroupName, "managedclustersets"),
		grants("create", clusterv1beta1.GroupName, "managedclustersets/bind"),
		grants("create", clusterv1beta1.GroupName, "managedclustersets/join"),
		grants("create", clusterv1beta1.GroupName, "managedclusters"),
		grants("update", "register.open-cluster-management.io", "managedclusters/accept"),
	}
}

// manifestRole begins the names of the roles that the manifests bring.
const manifestRole = "open-cluster-management:placement-hub:"

// checkHolding attempts, without doing it, what needs the privilege: with and without.
func checkHolding(t *testing.T, h *suite.Hub, holding holding) {
	t.Helper()
	account, err := h.Account(t)
	suite.Must(t, err)
	api, err := client.New(account, client.Options{Scheme: system.Scheme()})
	suite.Must(t, err)
	attempt := func() error { return api.Create(t.Context(), holding.attempt(), client.DryRunAll) }
	suite.Eventually(t, "attempting it with the privilege", attempt)
	var restores []func()
	defer func() {
		for _, restore := range restores {
			restore()
		}
	}()
	for _, granted := range distinct(granted(t, h)) {
		same := granted
		if same.role = holding.role; same == holding.privilege { // Another controller may hold it, too.
			restores = append(restores, withhold(t, h, rbacv1.RoleRef{Kind: "ClusterRole", Name: granted.role}, granted))
		}
	}
	suite.Eventually(t, "attempting it without the privilege", func() error {
		if err := attempt(); !apierrors.IsForbidden(err) {
			return fmt.Errorf("want it to be forbidden, got: %w", errors.Join(err, errors.New("not forbidden")))
		}
		return nil
	})
}
