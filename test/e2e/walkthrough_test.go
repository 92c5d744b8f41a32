package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"syscall"
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
	vocabulary "github.com/placement-hub/placement-hub/pkg/controller/managedcluster"
)

// walkthrough makes two replicas with every controller do each thing that they can do, and stops them.
func walkthrough(t *testing.T, h *hub) {
	t.Helper()
	reader := h.metricsReader(t)
	leader := h.startReplica(t, append(quickElection, multiclusterFlag)...)
	h.wantHolder(t, leader)
	standby := types.NamespacedName{Namespace: "team-a", Name: "standby"}
	h.wantDecisions(t, standby, "ap1")
	if status, body := leader.get(t, "/metrics", reader); status != http.StatusOK {
		t.Errorf("/metrics answers %d: %s", status, body)
	}
	h.exchange(t)
	h.losePages(t)
	h.loseSets(t)
	h.loseBindings(t)
	h.loseRoles(t)
	h.loseVocabulary(t)
	h.loseCluster(t)
	h.loseCertificates(t, leader)
	h.stop(t, leader)
	// An API server that cannot stream its lists, as those before Kubernetes 1.34 by default, is asked for them.
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	leader = h.startReplica(t, multiclusterFlag)
	h.wantHolder(t, leader)
	h.moveCluster(t, "eu3", "ap-south")
	h.wantDecisions(t, standby, "ap1", "eu3")
	h.stop(t, leader)
}

// stop ends the only replica.
func (h *hub) stop(t *testing.T, r *replica) {
	t.Helper()
	r.signal(t, syscall.SIGTERM)
	r.wantExit(t, 0)
	h.wantHolder(t, nil)
}

// exchange has one cluster take the place of another again and again, so that the same event occurs again, and its slice changes.
func (h *hub) exchange(t *testing.T) {
	t.Helper()
	for _, name := range []string{"eu1", "eu2"} {
		must(t, h.client.Create(t.Context(), &clusterinventory.ClusterProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
			Spec:       clusterinventory.ClusterProfileSpec{ClusterManager: clusterinventory.ClusterManager{Name: "open-cluster-management"}},
		}))
	}
	const seat, floor = "seat", "floor"
	h.moveCluster(t, "eu1", seat)
	chair := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "chair"}}
	chair.Spec.NumberOfClusters = ptr.To[int32](1)
	chair.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": seat}},
	}}}
	must(t, h.client.Create(t.Context(), chair))
	h.wantDecisions(t, client.ObjectKeyFromObject(chair), "eu1")
	for range 2 {
		for _, names := range [][2]string{{"eu1", "eu2"}, {"eu2", "eu1"}} {
			h.moveCluster(t, names[1], seat)
			h.moveCluster(t, names[0], floor)
			h.wantDecisions(t, client.ObjectKeyFromObject(chair), names[1])
		}
	}
	eventually(t, "waiting for the ClusterProfile in the slice", func() error {
		if got := h.profileDecisions(t)["team-a/chair"]; len(got) != 1 {
			return fmt.Errorf("got %v", got)
		}
		return nil
	})
	var slice clusterinventory.PlacementDecisionList
	must(t, h.client.List(t.Context(), &slice, client.InNamespace("team-a"), client.MatchingLabels{clusterinventory.PlacementKeyLabel: "chair"}))
	h.wantDropped(t, &slice.Items[0], "chair-decision-9")
}

// losePages takes placements more than a page, a page more than they need, and a page away.
func (h *hub) losePages(t *testing.T) {
	t.Helper()
	spec := func(groups string) client.Patch {
		return mergePatch(`{"spec":{"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":` + groups + `}}}}`)
	}
	rollout := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "rollout"}}
	pages := func() ([]clusterv1beta1.PlacementDecision, error) {
		var list clusterv1beta1.PlacementDecisionList
		err := h.client.List(t.Context(), &list, client.InNamespace("team-a"), client.MatchingLabels{clusterv1beta1.PlacementLabel: "rollout"})
		return list.Items, err
	}
	for _, step := range []struct {
		groups string
		least  int
		most   int
	}{{`1`, 8, 100}, {`"100%"`, 1, 4}} {
		must(t, h.client.Patch(t.Context(), rollout, spec(step.groups)))
		eventually(t, "waiting for other groups", func() error {
			items, err := pages()
			must(t, err)
			if len(items) < step.least || len(items) > step.most {
				return fmt.Errorf("%d pages, want %d to %d", len(items), step.least, step.most)
			}
			return nil
		})
	}
	items, err := pages()
	must(t, err)
	must(t, h.client.Patch(t.Context(), &items[0], mergePatch(`{"metadata":{"ownerReferences":null}}`)))
	eventually(t, "waiting for the owner to be put back", func() error {
		fresh := &clusterv1beta1.PlacementDecision{}
		err := h.client.Get(t.Context(), client.ObjectKeyFromObject(&items[0]), fresh)
		if err == nil && len(fresh.OwnerReferences) == 0 {
			err = errors.New("the page has no owner")
		}
		return err
	})
	h.loseOlderPages(t)
}

// loseOlderPages does it to a placement of the older API: its page changes, and one that is too many goes.
func (h *hub) loseOlderPages(t *testing.T) {
	t.Helper()
	rehearsal := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "rehearsal"}}
	must(t, h.client.Patch(t.Context(), rehearsal, mergePatch(`{"spec":{"numberOfClusters":1}}`)))
	page := &placementv1alpha1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "rehearsal-decision-1"}}
	eventually(t, "waiting for one decision of the older API", func() error {
		err := h.client.Get(t.Context(), client.ObjectKeyFromObject(page), page)
		if err == nil && len(page.Decisions) != 1 {
			err = fmt.Errorf("%d decisions", len(page.Decisions))
		}
		return err
	})
	h.wantDropped(t, page, "rehearsal-decision-2")
}

// wantDropped adds a page that is one too many, and waits until it goes.
func (h *hub) wantDropped(t *testing.T, page client.Object, name string) {
	t.Helper()
	surplus, ok := page.DeepCopyObject().(client.Object)
	if !ok {
		t.Fatalf("%T is no object", page)
	}
	surplus.SetName(name)
	surplus.SetUID("")
	surplus.SetResourceVersion("")
	must(t, h.client.Create(t.Context(), surplus))
	h.wantGone(t, surplus)
}

// wantMade waits until an object is there.
func (h *hub) wantMade(t *testing.T, object client.Object) {
	t.Helper()
	eventually(t, fmt.Sprintf("waiting for %T %s", object, object.GetName()), func() error {
		return h.client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	})
}

// loseSets deletes and edits what the controllers of the sets keep.
func (h *hub) loseSets(t *testing.T) {
	t.Helper()
	global := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "global"}}
	h.wantMade(t, global)
	must(t, h.client.Delete(t.Context(), global))
	h.wantMade(t, global)
	exclusive := mergePatch(`{"spec":{"clusterSelector":{"selectorType":"ExclusiveClusterSetLabel","labelSelector":null}}}`)
	must(t, h.client.Patch(t.Context(), global, exclusive))
	eventually(t, "waiting for its selector", func() error {
		err := h.client.Get(t.Context(), client.ObjectKeyFromObject(global), global)
		if err == nil && global.Spec.ClusterSelector.SelectorType != clusterv1beta2.LabelSelector {
			err = errors.New("it has not been put back")
		}
		return err
	})
}

// loseBindings edits a binding that follows from RBAC, and takes the right away.
func (h *hub) loseBindings(t *testing.T) {
	t.Helper()
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "team-c", Name: "staging"}}
	h.wantMade(t, binding)
	// Such an edit is refused wherever the policy is in force.
	policy := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "open-cluster-management-placement-hub-bindings"},
	}
	h.wantMade(t, policy)
	must(t, h.client.Delete(t.Context(), policy))
	eventually(t, "waiting for the policy to be out of force", func() error {
		return h.client.Patch(t.Context(), binding, mergePatch(`{"spec":{"clusterSet":"prod"}}`))
	})
	eventually(t, "waiting for the spec of the binding", func() error {
		err := h.client.Get(t.Context(), client.ObjectKeyFromObject(binding), binding)
		if err == nil && binding.Spec.ClusterSet != binding.Name {
			err = fmt.Errorf("it binds %s", binding.Spec.ClusterSet)
		}
		return err
	})
	policy.ResourceVersion, policy.UID = "", ""
	must(t, h.client.Create(t.Context(), policy))
	right := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "sample:team-c-binds-staging"}}
	must(t, h.client.Delete(t.Context(), right))
	h.wantGone(t, binding)
}

// wantGone waits until an object is not there any more.
func (h *hub) wantGone(t *testing.T, object client.Object) {
	t.Helper()
	eventually(t, fmt.Sprintf("waiting for %T %s to go", object, object.GetName()), func() error {
		err := h.client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if err == nil {
			err = errors.New("it is still there")
		}
		return client.IgnoreNotFound(err)
	})
}

// loseRoles deletes and edits the ClusterRoles of a set.
func (h *hub) loseRoles(t *testing.T) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "open-cluster-management:managedclusterset:bind:global"}}
	h.wantMade(t, role)
	must(t, h.client.Delete(t.Context(), role))
	h.wantMade(t, role)
	must(t, h.client.Patch(t.Context(), role, mergePatch(`{"rules":null}`)))
	eventually(t, "waiting for its rules", func() error {
		err := h.client.Get(t.Context(), client.ObjectKeyFromObject(role), role)
		if err == nil && len(role.Rules) == 0 {
			err = errors.New("it has none")
		}
		return err
	})
}

func (h *hub) loseVocabulary(t *testing.T) {
	t.Helper()
	words := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: vocabulary.VocabularyConfigMap}}
	h.wantMade(t, words)
	must(t, h.client.Delete(t.Context(), words))
	h.wantMade(t, words)
	must(t, h.client.Patch(t.Context(), words, mergePatch(`{"data":null}`)))
	eventually(t, "waiting for its words", func() error {
		err := h.client.Get(t.Context(), client.ObjectKeyFromObject(words), words)
		if err == nil && len(words.Data) == 0 {
			err = errors.New("it has none")
		}
		return err
	})
}

// loseCluster adds a cluster that nobody hears of.
func (h *hub) loseCluster(t *testing.T) {
	t.Helper()
	silent := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "silent"}}
	must(t, h.client.Create(t.Context(), silent))
	eventually(t, "waiting for its taint", func() error {
		err := h.client.Get(t.Context(), client.ObjectKeyFromObject(silent), silent)
		if err == nil && len(silent.Spec.Taints) == 0 {
			err = errors.New("it has none")
		}
		return err
	})
}

func (h *hub) applySamples(t *testing.T) {
	t.Helper()
	entries, err := fs.ReadDir(samples.Files(), ".")
	must(t, err)
	for _, entry := range entries {
		content, err := fs.ReadFile(samples.Files(), entry.Name())
		must(t, err)
		objects, err := manifests.Decode(bytes.NewReader(content), entry.Name())
		must(t, err)
		must(t, manifests.Apply(t.Context(), h.environment.AdminConfig(), objects))
	}
}
