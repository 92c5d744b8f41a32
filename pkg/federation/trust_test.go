// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
)

// inEurope returns deployment9 with a selector of eu1 and eu2.
func inEurope() Object {
	object := deployment9()
	object.Meta.Annotations[SelectorAnnotation] = `[{"key":"location","operator":"=","values":["europe"]}]`
	return object
}

// T8: an agent that reports more ready replicas than the hub has planned in its cluster does not change the plan of the others.
func TestReadyReplicasCountUpToThePlan(t *testing.T) {
	h, object := newHub(), inEurope()
	want := h.evaluate(object).Replicas
	for _, liar := range []string{"eu1", "eu2"} {
		for _, unguarded := range []bool{false, true} {
			h.works = nil
			for _, cluster := range []string{"eu1", "eu2"} {
				work := ExistingWork{Cluster: cluster, Replicas: want[cluster], Ready: want[cluster]}
				if cluster == liar {
					work.Ready = 1_000_000
				}
				h.works = append(h.works, work)
			}
			view := h.view()
			view.Unguarded = unguarded

			if diff := cmp.Diff(want, Evaluate(object, view, epoch).Replicas); diff != "" {
				t.Errorf("%s lies, unguarded %v: %s", liar, unguarded, diff)
			}
		}
	}
}

// T8: where others may change works, a cluster that is away keeps the share that the plan gives it, whatever its work says and its agent has
// reported; where they may not, it keeps what its work says.
func TestAClusterThatIsAwayKeepsItsShare(t *testing.T) {
	h, object := newHub(), inEurope()
	want := h.evaluate(object).Replicas
	h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "eu2", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "members", "location": "europe"},
	}})
	h.works = []ExistingWork{{Cluster: "eu1", Replicas: want["eu1"]}, {Cluster: "eu2", Replicas: 8, Ready: 8}}
	if diff := cmp.Diff(map[string]int32{"eu1": 1, "eu2": 8}, h.evaluate(object).Replicas); diff != "" {
		t.Errorf("guarded: %s", diff)
	}

	h.works[1].Foreign = true
	if got := h.evaluate(object).Replicas["eu2"]; got != 0 {
		t.Errorf("a work of somebody else gives the cluster %d replicas", got)
	}
	h.works[1].Foreign = false

	view := h.view()
	view.Unguarded = true
	if diff := cmp.Diff(want, Evaluate(object, view, epoch).Replicas); diff != "" {
		t.Errorf("unguarded: %s", diff)
	}
}

// T8: a work is the hub's by its name and its field manager, also once it is compact; the annotation decides for a copy without managedFields only.
func TestOwnedWorks(t *testing.T) {
	identity := Identity{Kind: kindOf(kindConfigMap)}
	identity.Namespace, identity.Name = "team-a", "x"

	hub := metav1.ManagedFieldsEntry{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply}
	agent := metav1.ManagedFieldsEntry{Manager: "work-agent", Operation: metav1.ManagedFieldsOperationUpdate}
	status := metav1.ManagedFieldsEntry{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply, Subresource: "status"}
	update := metav1.ManagedFieldsEntry{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationUpdate}
	for _, c := range []struct {
		reason, name, annotation string
		managers                 []metav1.ManagedFieldsEntry
		want                     bool
	}{
		{"applied by the hub", identity.WorkName(), identity.String(), []metav1.ManagedFieldsEntry{agent, hub}, true},
		{"applied by the hub, and not written by an agent yet", identity.WorkName(), identity.String(), []metav1.ManagedFieldsEntry{hub}, true},
		{"whose status alone is applied in the hub's name", identity.WorkName(), identity.String(), []metav1.ManagedFieldsEntry{status}, false},
		{"with an annotation that the agent has overwritten", identity.WorkName(), "theirs", []metav1.ManagedFieldsEntry{agent, hub}, true},
		{"made by another with the annotation", identity.WorkName(), identity.String(), []metav1.ManagedFieldsEntry{agent}, false},
		{"updated, not applied, in the hub's name", identity.WorkName(), identity.String(), []metav1.ManagedFieldsEntry{update}, false},
		{"of another name", "fed-configmap-0", identity.String(), []metav1.ManagedFieldsEntry{hub}, false},
		{"a copy without managedFields", identity.WorkName(), identity.String(), nil, true},
		{"another's copy without managedFields", identity.WorkName(), "", nil, false},
	} {
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
			Namespace: "eu1", Name: c.name, Annotations: map[string]string{ObjectAnnotation: c.annotation}, ManagedFields: c.managers,
		}}
		if identity.Owns(work) != c.want {
			t.Errorf("%s: Owns is not %v", c.reason, c.want)
		}
		CompactWork(work)
		if identity.Owns(work) != c.want {
			t.Errorf("%s, compact: Owns is not %v", c.reason, c.want)
		}
	}
}

// federated-selector 3.2: a ServiceAccount that is created with a workload stays when the work goes, as the Namespace does.
func TestServiceAccountsStay(t *testing.T) {
	payload := NewPayload(kindOf(kindDeployment), objectOf(t, `{kind: Deployment, metadata: {namespace: team-a, name: web}}`))

	work, err := payload.Work("eu1", Variant{ServiceAccount: "robot"})
	if err != nil {
		t.Fatal(err)
	}
	want := []workv1.OrphaningRule{
		{Resource: "namespaces", Name: "team-a"}, {Resource: "serviceaccounts", Namespace: "team-a", Name: "robot"},
	}
	if diff := cmp.Diff(want, work.Spec.DeleteOption.SelectivelyOrphan.OrphaningRules); diff != "" {
		t.Error(diff)
	}
}
