// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/clustersets"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// State is the objects of a hub that placements depend on, as an API server returns them, with defaults. Its methods only read, so that
// they are safe for concurrent use while no goroutine changes the State.
type State struct {
	Clusters    []*clusterv1.ManagedCluster
	ClusterSets []*clusterv1beta2.ManagedClusterSet
	Bindings    []*clusterv1beta2.ManagedClusterSetBinding
	Scores      []*clusterv1alpha1.AddOnPlacementScore
	// ClusterRoles, ClusterRoleBindings and Accounts bind namespaces by RBAC, in addition to Bindings. They are empty where Bindings
	// contains the bindings that follow from them.
	ClusterRoles        []*rbacv1.ClusterRole
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding
	Accounts            []*corev1.ServiceAccount
	// Placements and Decisions are of all APIs of package api.
	Placements []api.Object
	Decisions  []api.Object
	// Uncounted are the APIs whose PlacementDecisions could not be read, so that no prioritizer counts them.
	Uncounted []api.Adapter
	// SetsHidden leaves out of notes which sets exist that are not bound to the namespace of a Placement.
	SetsHidden bool
	// Done cancels evaluations when it is closed; their results are meaningless then.
	Done <-chan struct{}
	// Workers bounds the goroutines of a comparison; 0 means GOMAXPROCS.
	Workers int
	// Controllers are those of the hub, of which clustersets.Assumptions count as written; nil takes the objects as they are.
	Controllers []string
	// Limit is the removal budget of the hub: the share of the clusters of a Placement that may leave before removals are stalled. A nil
	// field is taken from the status of the Placement.
	Limit removalbudget.Limit
	// Pods are the objects that decide where Pods may run. No Placement depends on them.
	Pods pods.Objects
	// Federated are the objects that are delivered to clusters. No Placement depends on them.
	Federated federated.Objects
	// ClusterRequests are the objects that decide what ClusterRequests get. No Placement depends on them.
	ClusterRequests requests.Objects

	// Former is the State before a change that led to this one; nil without one.
	Former *State
}

// since returns a copy of the State that a change of the former one led to: decisions were written for the specs of the former one.
func (s *State) since(former *State) *State {
	changed := *s
	changed.Former = former
	return &changed
}

// Evaluate evaluates the wanted Placements at a time, sorted by namespace, name and API; a nil wanted selects all. Every Placement sees the
// decisions of the State, and none sees the result of another.
func (s *State) Evaluate(now time.Time, wanted func(inventory.Key) bool) []Evaluation {
	compiler := selector.NewCompiler()
	snapshot := s.inventory(compiler).Snapshot().WithDone(s.Done)
	pages := s.PagesByPlacement()
	former := s.formerPlacements()
	evaluations := make([]Evaluation, 0, len(s.Placements))

	for _, p := range s.placements() {
		key := p.Key()
		if wanted != nil && !wanted(key) || s.cancelled() {
			continue
		}
		existing := placement.NewExisting(p.API.Codec(), p, pages[key])
		existing.Before = existing.RequestBefore(former[key], compiler)
		request := func() *scheduling.Request { return p.Request(compiler) }
		evaluations = append(evaluations, evaluate(request, snapshot, existing, s.options(), now))
	}
	return evaluations
}

// formerPlacements returns the Placements of the former State.
func (s *State) formerPlacements() map[inventory.Key]*api.Placement {
	if s.Former == nil {
		return nil
	}
	former := make(map[inventory.Key]*api.Placement, len(s.Former.Placements))
	for _, p := range s.Former.placements() {
		former[p.Key()] = p
	}
	return former
}

// cancelled reports whether Done is closed.
func (s *State) cancelled() bool {
	select {
	case <-s.Done:
		return true
	default:
		return false
	}
}

// placements returns the Placements, sorted by namespace, name and API.
func (s *State) placements() []*api.Placement {
	placements := make([]*api.Placement, 0, len(s.Placements))
	for _, object := range s.Placements {
		placements = append(placements, api.Read(object))
	}
	slices.SortFunc(placements, func(a, b *api.Placement) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.API.Name(), b.API.Name()))
	})
	return placements
}

func (s *State) inventory(compiler *selector.Compiler) *inventory.Inventory {
	known := inventory.New(compiler)
	known.SetAssumptions(clustersets.Assumptions(s.Controllers))
	for _, set := range s.ClusterSets {
		known.SetClusterSet(set)
	}
	for _, binding := range s.EffectiveBindings() {
		known.SetBinding(binding)
	}
	for _, scores := range s.Scores {
		known.SetScores(scores)
	}

	for _, cluster := range s.Clusters {
		known.SetCluster(cluster)
	}
	for _, adapter := range api.Adapters() {
		for _, object := range s.Decisions {
			if page := adapter.Codec().Read(object); page != nil {
				known.SetDecision(api.InventoryPage(adapter, page))
			}
		}
	}
	return known
}

// PagesByPlacement returns the PlacementDecisions by the Placements that they may belong to.
func (s *State) PagesByPlacement() map[inventory.Key][]*api.Page {
	pages := map[inventory.Key][]*api.Page{}
	for _, adapter := range api.Adapters() {
		for _, object := range s.Decisions {
			page := adapter.Codec().Read(object)
			if page == nil {
				continue
			}
			for _, name := range placement.PlacementsOf(adapter.Codec(), page) {
				key := inventory.NewPlacementKey(adapter.Name(), page.Namespace, name)
				pages[key] = append(pages[key], page)
			}
		}
	}

	return pages
}

// options returns the options of the hub, as far as they are known.
func (s *State) options() placement.Options { return placement.Options{Limit: s.Limit} }

// EffectiveBindings returns the bindings of the State and those that follow from RBAC: the controller clustersetbinding-rbac creates a
// binding where none of that name exists. A binding that this controller would delete stays, as on a hub that does not run it.
func (s *State) EffectiveBindings() []*clusterv1beta2.ManagedClusterSetBinding {
	bindings := slices.Clip(s.Bindings)
	present := make(map[types.NamespacedName]bool, len(bindings))
	for _, binding := range bindings {
		present[types.NamespacedName{Namespace: binding.Namespace, Name: binding.Name}] = true
	}
	allowed := s.allowed()

	for _, account := range s.Accounts {
		if account.Name != clustersets.Account {
			continue
		}
		grant := allowed(account.Namespace)

		for _, set := range s.ClusterSets {
			key := types.NamespacedName{Namespace: account.Namespace, Name: set.Name}
			if present[key] || !grant.Contains(set.Name) {
				continue
			}
			bindings = append(bindings, &clusterv1beta2.ManagedClusterSetBinding{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{clustersets.ManagedByLabel: clustersets.Manager},
				},
				Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set.Name},
			})
		}
	}

	return bindings
}

// allowed returns a function for the cluster sets that the ServiceAccount of a namespace may bind.
func (s *State) allowed() func(namespace string) clustersets.Grant {
	roles := make([]rbacv1.ClusterRole, 0, len(s.ClusterRoles))
	for _, role := range s.ClusterRoles {
		roles = append(roles, *role)
	}
	bindings := make([]rbacv1.ClusterRoleBinding, 0, len(s.ClusterRoleBindings))
	for _, binding := range s.ClusterRoleBindings {
		bindings = append(bindings, *binding)
	}
	grants := clustersets.GrantsOf(roles)
	return func(namespace string) clustersets.Grant { return clustersets.Allowed(namespace, bindings, grants) }
}
