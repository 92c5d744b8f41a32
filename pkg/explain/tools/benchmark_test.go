// SPDX-License-Identifier: Apache-2.0

package tools_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

var (
	definitions = tools.Definitions{CRDs: sync.OnceValues(manifests.Definitions), Policies: admission.Once(manifests.Policies)}
	noon        = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
)

// fleet returns clusters of two sets that are bound in ten namespaces, as `kubectl get -o yaml` writes them, each with a line of its metadata.
func fleet(clusters int, metadata string) []byte {
	var out bytes.Buffer
	for i := range clusters {
		fmt.Fprintf(&out, `---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata:
  name: cluster-%04d
  labels:
    cluster.open-cluster-management.io/clusterset: set-%d
    region: region-%d
    env: %s
  %s
spec:
  hubAcceptsClient: true
  leaseDurationSeconds: 60
status:
  allocatable: {cpu: "%d", memory: %dGi}
  capacity: {cpu: "64", memory: 256Gi}
  clusterClaims:
  - name: id.k8s.io
    value: cluster-%04d
  conditions:
  - type: ManagedClusterConditionAvailable
    status: "True"
    reason: ManagedClusterAvailable
    message: Managed cluster is available
    lastTransitionTime: "2026-01-01T00:00:00Z"
  version:
    kubernetes: v1.31.0
`, i, i%2, i%5, []string{"prod", "stage", "dev"}[i%3], strings.ReplaceAll(metadata, "%", fmt.Sprintf("%012d", i)), i%64, i%256, i)
	}
	for i := range 2 {
		fmt.Fprintf(&out, "---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: set-%d}\n"+
			"spec: {clusterSelector: {selectorType: ExclusiveClusterSetLabel}}\n", i)
		for n := range 10 {
			fmt.Fprintf(&out, "---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n"+
				"metadata: {name: set-%d, namespace: team-%d}\nspec: {clusterSet: set-%d}\n", i, n, i)
		}
	}
	return out.Bytes()
}

func placements(count int) []byte {
	var out bytes.Buffer
	for i := range count {
		fmt.Fprintf(&out, "---\napiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"+
			"metadata: {name: p-%d, namespace: team-%d}\nspec:\n  numberOfClusters: %d\n  predicates:\n"+
			"  - requiredClusterSelector:\n      labelSelector:\n        matchLabels: {region: region-%d}\n"+
			"        matchExpressions:\n        - {key: env, operator: In, values: [prod, stage]}\n", i, i%10, 1+i%20, i%5)
	}
	return out.Bytes()
}

// BenchmarkDiff measures `placement diff` of 100 Placements in files against 2,000 clusters in files.
func BenchmarkDiff(b *testing.B) {
	hub, files := fleet(2000, "uid: 00000000-0000-0000-0000-%"), placements(100)
	for b.Loop() {
		changes, err := definitions.ChangeReader(statefile.Namespace{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		changes.Read("placements.yaml", files)
		given, err := changes.State()
		if err != nil {
			b.Fatal(err)
		}
		reader, err := definitions.Reader(statefile.Stored, statefile.Namespace{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		reader.Read("hub.yaml", hub)
		state, err := reader.State()
		if err != nil {
			b.Fatal(err)
		}
		options := tools.DiffOptions{Writes: statefile.Writes{Review: admission.NewReviewer(b.Context(), definitions.Policies)}}
		differences, err := options.Compare(state, given, changes, noon)
		if err != nil || len(differences.Placements) != 100 {
			b.Fatalf("%d Placements, error %v", len(differences.Placements), err)
		}
		if err := printers.Print(&bytes.Buffer{}, printers.FormatTable, differences, answers.DifferenceStyle(false)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSimulate measures `placement simulate -f` of 2,000 clusters that a hub would admit, and of ten Placements.
func BenchmarkSimulate(b *testing.B) {
	files := append(fleet(2000, "annotations: {described: '%'}"), placements(10)...)
	for b.Loop() {
		reader, err := definitions.Reader(statefile.Described, statefile.Namespace{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		reader.Read("fleet.yaml", files)
		state, err := reader.State()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := reader.Review(b.Context()); err != nil {
			b.Fatal(err)
		}
		options := tools.ReportOptions{Files: true}
		reports, err := options.Report(state, noon)
		if err != nil || len(reports.Placements) != 10 {
			b.Fatalf("%d Placements, error %v", len(reports.Placements), err)
		}
	}
}
