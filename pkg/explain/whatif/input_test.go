// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
)

// noon is the time of all changes; the fraction of a second is not for the API.
var noon = time.Date(2026, 1, 31, 12, 0, 0, 500, time.UTC)

const testState = `
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: c1, labels: {region: us, cluster.open-cluster-management.io/clusterset: prod}}
spec: {taints: [{key: gpu, value: a100, effect: NoSelect, timeAdded: "2026-01-01T00:00:00Z"}, {key: gpu, effect: PreferNoSelect}]}
status: {version: {}, conditions: [], clusterClaims: [{name: zone, value: a}, {name: version, value: "1.30"}]}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: c2}
---
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: AddOnPlacementScore
metadata: {name: cpu, namespace: c1}
status: {scores: [{name: free, value: 40}]}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: prod}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: prod, namespace: team-a}
spec: {clusterSet: prod}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: prod, namespace: team-b}
spec: {clusterSet: prod}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: global, namespace: team-b}
spec: {clusterSet: global}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: placement, namespace: team-c}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: binder}
rules: [{apiGroups: [cluster.open-cluster-management.io], resources: [managedclustersets/bind], verbs: [create], resourceNames: [prod]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: binder}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: binder}
subjects: [{kind: ServiceAccount, name: placement, namespace: team-c}]
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: team-a}
spec: {numberOfClusters: 1}
---
apiVersion: placement.open-cluster-management.io/v1alpha1
kind: Placement
metadata: {name: p, namespace: team-a}
spec: {}
`

// readTestState reads the test State as strictly as an API server.
func readTestState(tb testing.TB) *explain.State {
	tb.Helper()
	reader, err := statefile.NewReader(definitions(tb))
	if err != nil {
		tb.Fatal(err)
	}
	reader.Read("world.yaml", []byte(testState))
	state, err := reader.State()
	if err != nil {
		tb.Fatal(err)
	}

	// The sets that every hub has come in any order.
	slices.SortFunc(state.ClusterSets, func(a, b *clusterv1beta2.ManagedClusterSet) int { return cmp.Compare(a.Name, b.Name) })
	return state
}

// definitions are those that the hub installs.
func definitions(tb testing.TB) []*apiextensionsv1.CustomResourceDefinition {
	tb.Helper()
	crds, err := manifests.Definitions()
	if err != nil {
		tb.Fatal(err)
	}
	return crds
}

// lines has one line for each object, sorted.
func lines(tb testing.TB, state *explain.State) []string {
	tb.Helper()
	var all []string
	add := func(kind string, objects ...any) {
		for _, object := range objects {
			text, err := json.Marshal(object)
			if err != nil {
				tb.Fatal(err)
			}
			all = append(all, kind+" "+strings.ReplaceAll(string(text), `"`, ""))
		}
	}

	for _, cluster := range state.Clusters {
		add("cluster", []any{cluster.Name, cluster.Labels, cluster.Spec.Taints, cluster.Status.ClusterClaims})
	}
	for _, scores := range state.Scores {
		add("scores", []any{scores.Namespace, scores.Name, scores.Status.Scores})
	}
	for _, binding := range state.EffectiveBindings() {
		add("binding", []string{binding.Namespace, binding.Name})
	}

	for _, placement := range state.Placements {
		add("placement", placement)
	}
	slices.Sort(all)
	return all
}

// changed are the lines that differ, with - for those that went and + for those that came.
func changed(before, after []string) []string {
	difference := []string{}
	for _, line := range before {
		if !slices.Contains(after, line) {
			difference = append(difference, "- "+line)
		}
	}

	for _, line := range after {
		if !slices.Contains(before, line) {
			difference = append(difference, "+ "+line)
		}
	}
	return difference
}
