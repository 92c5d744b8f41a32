// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// federated-selector 3.1.4: a PlacementDecision, whoever wrote it, delivers to no cluster that is not in a set bound to the namespace. A cluster
// that has the object loses it when it leaves the scope (docs/spec/trust.md T10).
func TestDecisionsStayInScope(t *testing.T) {
	h := newHub()
	h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
	h.decisions = map[string]Decisions{"p": {Clusters: []string{"eu1", "gone", "other"}}}
	object := configMap(map[string]string{PlacementAnnotation: "p"})
	if diff := cmp.Diff([]string{"eu1"}, h.evaluate(object).Selected); diff != "" {
		t.Error(diff)
	}
	h.works = withWorks("other")
	if diff := cmp.Diff([]string{"eu1"}, h.evaluate(object).Selected); diff != "" {
		t.Error(diff)
	}
	h.bindInvalid()
	if diff := cmp.Diff([]string{"eu1", "other"}, h.evaluate(object).Selected); diff != "" {
		t.Errorf("law 6: a cluster that has the object loses it, although a set that is invalid may contain it: %s", diff)
	}
	h.works = nil
	if diff := cmp.Diff([]string{"eu1"}, h.evaluate(object).Selected); diff != "" {
		t.Errorf("law 6: a cluster gets the object because a set that is invalid may contain it: %s", diff)
	}
	if diff := cmp.Diff([]string{"eu1", "gone", "other"}, h.decisions["p"].Clusters); diff != "" {
		t.Errorf("the decisions were changed: %s", diff)
	}
}
