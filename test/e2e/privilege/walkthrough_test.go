// SPDX-License-Identifier: Apache-2.0

package privilege

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// walkthrough makes two replicas with every controller do each thing that they can do, and stops them.
func walkthrough(t *testing.T, h *suite.Hub) {
	t.Helper()
	reader := h.MetricsReader(t)
	leader := h.StartReplica(t, append(suite.QuickElection, suite.MulticlusterFlag)...)
	h.WantHolder(t, leader)
	standby := types.NamespacedName{Namespace: "team-a", Name: "standby"}
	h.WantDecisions(t, standby, "ap1")
	if status, body := leader.Get(t, "/metrics", reader); status != http.StatusOK {
		t.Errorf("/metrics answers %d: %s", status, body)
	}
	exchange(t, h)
	losePages(t, h)
	loseSets(t, h)
	loseBindings(t, h)
	loseRoles(t, h)
	loseVocabulary(t, h)
	loseCluster(t, h)
	h.LoseCertificates(t, leader)
	h.Stop(t, leader)
	// An API server that cannot stream its lists, as those before Kubernetes 1.34 by default, is asked for them.
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	leader = h.StartReplica(t, suite.MulticlusterFlag)
	h.WantHolder(t, leader)
	h.MoveCluster(t, "eu3", "ap-south")
	h.WantDecisions(t, standby, "ap1", "eu3")
	h.Stop(t, leader)
}

// exchange has one cluster take the place of another again and again, so that the same event occurs again, and its slice changes.
func exchange(t *testing.T, h *suite.Hub) {
	t.Helper()
	for _, name := range []string{"eu1", "eu2"} {
		suite.Must(t, h.Client.Create(t.Context(), &clusterinventory.ClusterProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
			Spec:       clusterinventory.ClusterProfileSpec{ClusterManager: clusterinventory.ClusterManager{Name: "open-cluster-management"}},
		}))
	}
	const seat, floor = "seat", "floor"
	h.MoveCluster(t, "eu1", seat)
	chair := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "chair"}}
	chair.Spec.NumberOfClusters = ptr.To[int32](1)
	chair.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": seat}},
	}}}
	suite.Must(t, h.Client.Create(t.Context(), chair))
	h.WantDecisions(t, client.ObjectKeyFromObject(chair), "eu1")
	for range 2 {
		for _, names := range [][2]string{{"eu1", "eu2"}, {"eu2", "eu1"}} {
			h.MoveCluster(t, names[1], seat)
			h.MoveCluster(t, names[0], floor)
			h.WantDecisions(t, client.ObjectKeyFromObject(chair), names[1])
		}
	}
	suite.Eventually(t, "waiting for the ClusterProfile in the slice", func() error {
		if got := h.ProfileDecisions(t)["team-a/chair"]; len(got) != 1 {
			return fmt.Errorf("got %v", got)
		}
		return nil
	})
	var slice clusterinventory.PlacementDecisionList
	suite.Must(t, h.Client.List(t.Context(), &slice, client.InNamespace("team-a"),
		client.MatchingLabels{clusterinventory.PlacementKeyLabel: "chair"}))
	wantDropped(t, h, &slice.Items[0], "chair-decision-9")
}

// losePages takes placements more than a page, a page more than they need, and a page away.
func losePages(t *testing.T, h *suite.Hub) {
	t.Helper()
	spec := func(groups string) client.Patch {
		return suite.MergePatch(`{"spec":{"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":` + groups + `}}}}`)
	}
	rollout := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "rollout"}}
	pages := func() ([]clusterv1beta1.PlacementDecision, error) {
		var list clusterv1beta1.PlacementDecisionList
		err := h.Client.List(t.Context(), &list, client.InNamespace("team-a"), client.MatchingLabels{clusterv1beta1.PlacementLabel: "rollout"})
		return list.Items, err
	}
	for _, step := range []struct {
		groups string
		least  int
		most   int
	}{{`1`, 8, 100}, {`"100%"`, 1, 4}} {
		suite.Must(t, h.Client.Patch(t.Context(), rollout, spec(step.groups)))
		suite.Eventually(t, "waiting for other groups", func() error {
			items, err := pages()
			suite.Must(t, err)
			if len(items) < step.least || len(items) > step.most {
				return fmt.Errorf("%d pages, want %d to %d", len(items), step.least, step.most)
			}
			return nil
		})
	}
	items, err := pages()
	suite.Must(t, err)
	suite.Must(t, h.Client.Patch(t.Context(), &items[0], suite.MergePatch(`{"metadata":{"ownerReferences":null}}`)))
	suite.Eventually(t, "waiting for the owner to be put back", func() error {
		fresh := &clusterv1beta1.PlacementDecision{}
		err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(&items[0]), fresh)
		if err == nil && len(fresh.OwnerReferences) == 0 {
			err = errors.New("the page has no owner")
		}
		return err
	})
	loseOlderPages(t, h)
}

// loseOlderPages does it to a placement of the older API: its page changes, and one that is too many goes.
func loseOlderPages(t *testing.T, h *suite.Hub) {
	t.Helper()
	rehearsal := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "rehearsal"}}
	suite.Must(t, h.Client.Patch(t.Context(), rehearsal, suite.MergePatch(`{"spec":{"numberOfClusters":1}}`)))
	page := &placementv1alpha1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "rehearsal-decision-1"}}
	suite.Eventually(t, "waiting for one decision of the older API", func() error {
		err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(page), page)
		if err == nil && len(page.Decisions) != 1 {
			err = fmt.Errorf("%d decisions", len(page.Decisions))
		}
		return err
	})
	wantDropped(t, h, page, "rehearsal-decision-2")
}

// wantDropped adds a page that is one too many, and waits until it goes.
func wantDropped(t *testing.T, h *suite.Hub, page client.Object, name string) {
	t.Helper()
	surplus, ok := page.DeepCopyObject().(client.Object)
	if !ok {
		t.Fatalf("%T is no object", page)
	}
	surplus.SetName(name)
	surplus.SetUID("")
	surplus.SetResourceVersion("")
	suite.Must(t, h.Client.Create(t.Context(), surplus))
	h.WantGone(t, surplus)
}

// loseSets deletes and edits what the controllers of the sets keep.
func loseSets(t *testing.T, h *suite.Hub) {
	t.Helper()
	global := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "global"}}
	h.WantMade(t, global)
	suite.Must(t, h.Client.Delete(t.Context(), global))
	h.WantMade(t, global)
	exclusive := suite.MergePatch(`{"spec":{"clusterSelector":{"selectorType":"ExclusiveClusterSetLabel","labelSelector":null}}}`)
	suite.Must(t, h.Client.Patch(t.Context(), global, exclusive))
	suite.Eventually(t, "waiting for its selector", func() error {
		err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(global), global)
		if err == nil && global.Spec.ClusterSelector.SelectorType != clusterv1beta2.LabelSelector {
			err = errors.New("it has not been put back")
		}
		return err
	})
}

// loseBindings edits a binding that follows from RBAC, and takes the right away.
func loseBindings(t *testing.T, h *suite.Hub) {
	t.Helper()
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "team-c", Name: "staging"}}
	h.WantMade(t, binding)
	// Such an edit is refused wherever the policy is in force.
	policy := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "open-cluster-management-placement-hub-bindings"},
	}
	h.WantMade(t, policy)
	suite.Must(t, h.Client.Delete(t.Context(), policy))
	suite.Eventually(t, "waiting for the policy to be out of force", func() error {
		return h.Client.Patch(t.Context(), binding, suite.MergePatch(`{"spec":{"clusterSet":"prod"}}`))
	})
	suite.Eventually(t, "waiting for the spec of the binding", func() error {
		err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(binding), binding)
		if err == nil && binding.Spec.ClusterSet != binding.Name {
			err = fmt.Errorf("it binds %s", binding.Spec.ClusterSet)
		}
		return err
	})
	policy.ResourceVersion, policy.UID = "", ""
	suite.Must(t, h.Client.Create(t.Context(), policy))
	right := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "sample:team-c-binds-staging"}}
	suite.Must(t, h.Client.Delete(t.Context(), right))
	h.WantGone(t, binding)
}

// loseRoles deletes and edits the ClusterRoles of a set.
func loseRoles(t *testing.T, h *suite.Hub) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "open-cluster-management:managedclusterset:bind:global"}}
	h.WantMade(t, role)
	suite.Must(t, h.Client.Delete(t.Context(), role))
	h.WantMade(t, role)
	suite.Must(t, h.Client.Patch(t.Context(), role, suite.MergePatch(`{"rules":null}`)))
	suite.Eventually(t, "waiting for its rules", func() error {
		err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(role), role)
		if err == nil && len(role.Rules) == 0 {
			err = errors.New("it has none")
		}
		return err
	})
}

func loseVocabulary(t *testing.T, h *suite.Hub) {
	t.Helper()
	words := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: managedcluster.VocabularyConfigMap}}
	h.WantMade(t, words)
	suite.Must(t, h.Client.Delete(t.Context(), words))
	h.WantMade(t, words)
	suite.Must(t, h.Client.Patch(t.Context(), words, suite.MergePatch(`{"data":null}`)))
	suite.Eventually(t, "waiting for its words", func() error {
		err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(words), words)
		if err == nil && len(words.Data) == 0 {
			err = errors.New("it has none")
		}
		return err
	})
}

// loseCluster adds a cluster that nobody hears of.
func loseCluster(t *testing.T, h *suite.Hub) {
	t.Helper()
	silent := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "silent"}}
	suite.Must(t, h.Client.Create(t.Context(), silent))
	suite.Eventually(t, "waiting for its taint", func() error {
		err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(silent), silent)
		if err == nil && len(silent.Spec.Taints) == 0 {
			err = errors.New("it has none")
		}
		return err
	})
}

func applySamples(t *testing.T, h *suite.Hub) {
	t.Helper()
	entries, err := fs.ReadDir(samples.Files(), ".")
	suite.Must(t, err)
	for _, entry := range entries {
		content, err := fs.ReadFile(samples.Files(), entry.Name())
		suite.Must(t, err)
		objects, err := manifests.Decode(bytes.NewReader(content), entry.Name())
		suite.Must(t, err)
		suite.Must(t, manifests.Apply(t.Context(), h.Environment.AdminConfig(), objects))
	}
}
