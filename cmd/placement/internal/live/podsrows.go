// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/explain/pods"
)

// family has workloads by their controllers.
type family struct {
	roots    []*unstructured.Unstructured // without a controller
	children map[types.UID][]*unstructured.Unstructured
}

func newFamily(workloads []*unstructured.Unstructured) *family {
	f := &family{children: map[types.UID][]*unstructured.Unstructured{}}
	for _, workload := range workloads {
		if controller := metav1.GetControllerOf(workload); controller != nil {
			f.children[controller.UID] = append(f.children[controller.UID], workload)
		} else {
			f.roots = append(f.roots, workload)
		}
	}
	return f
}

// pods returns the Pods of a workload that are not being deleted: itself, if it is one, and those of the objects that it controls.
func (f *family) pods(workload *unstructured.Unstructured) []*unstructured.Unstructured {
	if workload.GetKind() == "Pod" {
		if workload.GetDeletionTimestamp() != nil {
			return nil
		}
		return []*unstructured.Unstructured{workload}
	}
	var all []*unstructured.Unstructured
	for _, child := range f.children[workload.GetUID()] {
		all = append(all, f.pods(child)...)
	}
	return all
}

// wantedPods returns spec.replicas where a workload has it, and otherwise the number of its Pods.
func wantedPods(workload *unstructured.Unstructured, own []*unstructured.Unstructured) int {
	replicas, found, err := unstructured.NestedInt64(workload.Object, "spec", "replicas")
	if !found || err != nil {
		return len(own)
	}
	return int(replicas)
}

// boundPods counts the Pods that have a node, and returns the names of the nodes.
func boundPods(own []*unstructured.Unstructured) (bound int, nodes []string) {
	names := map[string]bool{}
	for _, pod := range own {
		if node, _, err := unstructured.NestedString(pod.Object, "spec", "nodeName"); err == nil && node != "" {
			bound++
			names[node] = true
		}
	}
	return bound, slices.Sorted(maps.Keys(names))
}

// workloadTitle returns "namespace/kind/name".
func workloadTitle(workload *unstructured.Unstructured) string {
	return workload.GetNamespace() + "/" + strings.ToLower(workload.GetKind()) + "/" + workload.GetName()
}

// versionsOf returns a text that changes whenever one of the objects does.
func versionsOf(objects *pods.Objects) string {
	var versions []string
	note := func(object metav1.Object) {
		versions = append(versions, string(object.GetUID())+"@"+object.GetResourceVersion())
	}
	for _, object := range objects.Workloads {
		note(object)
	}
	for _, object := range objects.Policies {
		note(object)
	}
	for _, object := range objects.ClusterPolicies {
		note(object)
	}
	for _, object := range objects.Classes {
		note(object)
	}
	for _, object := range objects.Tenants {
		note(object)
	}
	slices.Sort(versions)
	return strings.Join(versions, " ")
}

func (t *podsTable) summary() string { return strings.Join(t.counts, ", ") }

func (t *podsTable) version() string { return t.versions }

// body renders the workloads with the details of each below its row, and what was refused.
func (t *podsTable) body() []string {
	rows := append(make([][]string, 0, 1+len(t.rows)), []string{"NAMESPACE/KIND/NAME", "BOUND", "NODES", "CLASS"})
	for _, row := range t.rows {
		rows = append(rows, row.cells())
	}
	var lines []string
	for i, line := range aligned(rows) {
		lines = append(lines, line)
		if i > 0 {
			for _, detail := range t.rows[i-1].details {
				lines = append(lines, columnGap+oneLine(detail))
			}
		}
	}
	if len(t.rows) == 0 {
		lines = append(lines, "no workloads yet")
	}
	if len(t.refused) > 0 {
		lines = append(lines, "", "REFUSED")
		for _, refusal := range t.refused {
			lines = append(lines, oneLine(refusal))
		}
	}
	return lines
}

func (t *podsTable) changes() []change {
	changes := make([]change, 0, len(t.rows)+len(t.refused))
	for _, row := range t.rows {
		cells := row.cells()
		for _, detail := range row.details {
			cells = append(cells, "("+oneLine(detail)+")")
		}
		changes = append(changes, change{title: row.title, line: strings.Join(cells, columnGap), unsettled: row.unsettled() != ""})
	}
	for _, refusal := range t.refused {
		changes = append(changes, change{title: refusal, line: "refused" + columnGap + oneLine(refusal)})
	}
	return changes
}

func (t *podsTable) pending() []string {
	var pending []string
	for _, row := range t.rows {
		if unsettled := row.unsettled(); unsettled != "" {
			pending = append(pending, row.title+": "+unsettled)
		}
	}
	return pending
}

func (r *podsRow) cells() []string {
	nodes := strings.Join(r.nodes, ", ")
	if nodes == "" {
		nodes = "none"
	}
	class := r.class
	if class == "" {
		class = "none"
	}
	return []string{r.title, fmt.Sprintf("%d/%d", r.bound, r.wanted), nodes, class}
}

// unsettled says which Pods are still to be bound; empty when all are, or when none is admitted.
func (r *podsRow) unsettled() string {
	if r.refused || r.bound == r.wanted {
		return ""
	}
	return fmt.Sprintf("%d of %d Pods are bound", r.bound, r.wanted)
}
