// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
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
func versionsOf(objects *Objects) string {
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

// row returns the row of the table.
func (r *boardRow) row() document.Row {
	row := document.NewRow(r.title, fmt.Sprintf("%d/%d", r.bound, r.wanted), cmp.Or(strings.Join(r.nodes, ", "), "none"), cmp.Or(r.class, "none"))
	row.Name, row.Details = r.title, r.details
	// A workload of which no Pod is admitted waits for nothing.
	if !r.refused && r.bound != r.wanted {
		row.Unsettled = fmt.Sprintf("%s: %d of %d Pods are bound", r.title, r.bound, r.wanted)
	}
	return row
}
