// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
)

// shop has an object in each state.
func shop() *document.Board {
	object := func(kind, name string, clusters ...federated.Cluster) federated.Report {
		return federated.Report{Namespace: "shop", Kind: kind, Name: name, Clusters: clusters}
	}
	typo := object("ConfigMap", "typo")
	typo.Reason, typo.Message = "ClusterSelectorInvalid", "annotation a:\nno JSON"
	held := object("Secret", "held", federated.Cluster{Name: "eu1", Delivered: true, Applied: "True", Pending: federated.PendingHold})
	held.RemovalHeld = "1 of 1 clusters would lose it"
	needy := object("DaemonSet", "agent", federated.Cluster{Name: "us1", Delivered: true, Applied: "True"})
	needy.Missing = []federated.Missing{{Kind: "Secret", Name: "held", Clusters: []string{"us1"}}}
	return federated.NewBoard([]string{"eu1", "us1"}, []federated.Report{
		needy,
		object("Deployment", "web",
			federated.Cluster{Name: "eu1", Delivered: true, Applied: "True", Wanted: ptr.To[int32](6)},
			federated.Cluster{Name: "us1", Pending: federated.PendingCreate, Wanted: ptr.To[int32](3)}),
		held,
		object("Service", "taken",
			federated.Cluster{Name: "eu1", Delivered: true, Applied: "False", Problem: "conflict with kubectl"},
			federated.Cluster{Name: "us1", Pending: federated.PendingConflict}),
		object("Service", "web",
			federated.Cluster{Name: "eu1", Delivered: true, Applied: "True", Pending: federated.PendingRemove},
			federated.Cluster{Name: "us1", Verdict: "Predicate"}),
		typo,
	})
}

func TestFederatedTable(t *testing.T) {
	table := shop()
	if got, want := table.Summary, "2 clusters, 6 federated objects"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	want := []string{
		"NAMESPACE/KIND/NAME   eu1          us1",
		"shop/daemonset/agent  -            applied",
		"  DependenciesMissing: Secret held does not reach us1",
		"shop/deployment/web   applied (6)  waiting (3)",
		"shop/secret/held      held         -",
		"  RemovalHeld: 1 of 1 clusters would lose it",
		"shop/service/taken    failed       conflict",
		"  eu1: conflict with kubectl",
		"shop/service/web      leaving      -",
		"shop/configmap/typo   -            -",
		"  ClusterSelectorInvalid: annotation a: no JSON",
	}
	if diff := cmp.Diff(want, printers.BoardLines(table)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"shop/deployment/web: not settled in us1", "shop/service/web: not settled in eu1",
	}, table.Pending()); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
}

func TestFederatedChanges(t *testing.T) {
	lines := map[string]string{}
	for _, change := range printers.BoardChanges(shop()) {
		lines[change.Title] = change.Line
		if unsettled := strings.HasSuffix(change.Title, "/web"); unsettled != change.Unsettled {
			t.Errorf("%s is unsettled: %t", change.Title, change.Unsettled)
		}
	}
	want := map[string]string{
		"shop/daemonset/agent": "shop/daemonset/agent  us1 applied  (DependenciesMissing: Secret held does not reach us1)",
		"shop/deployment/web":  "shop/deployment/web  eu1 applied (6)  us1 waiting (3)",
		"shop/secret/held":     "shop/secret/held  eu1 held  (RemovalHeld: 1 of 1 clusters would lose it)",
		"shop/service/taken":   "shop/service/taken  eu1 failed  us1 conflict  (eu1: conflict with kubectl)",
		"shop/service/web":     "shop/service/web  eu1 leaving",
		"shop/configmap/typo":  "shop/configmap/typo  (ClusterSelectorInvalid: annotation a: no JSON)",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := printers.BoardLines(federated.NewBoard(nil, nil)); got[len(got)-1] != "no federated objects yet" {
		t.Errorf("an empty hub shows %q", got)
	}
}
