// SPDX-License-Identifier: Apache-2.0

package objectnames

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// namedWorkloads are the workloads on the command line.
var namedWorkloads = hubflags.NamedKinds[pods.WorkloadKind]{
	Find: func(text string) (pods.WorkloadKind, string, bool) {
		kind, is := pods.FindKind(text)
		return kind, kind.Kind, is
	},
	Alone: "name placements or workloads (TYPE/NAME), not both in one command",
}

// WorkloadTypes returns the types of workloads.
func WorkloadTypes() []string {
	types := make([]string, 0, len(pods.Kinds()))
	for _, kind := range pods.Kinds() {
		types = append(types, strings.ToLower(kind.Kind))
	}
	return types
}

// ParseWorkloads parses names of workloads as kubectl does, TYPE/NAME and TYPE NAME. The result is nil if the arguments name none.
func ParseWorkloads(args []string, namespace string) ([]hubstate.Workload, error) {
	names, err := namedWorkloads.Parse(args)
	if err != nil || names == nil {
		return nil, err
	}
	workloads := make([]hubstate.Workload, 0, len(names))
	for _, named := range names {
		workloads = append(workloads, hubstate.Workload{Kind: named.Kind, Namespace: namespace, Name: named.Name})
	}
	return workloads, nil
}

// FindWorkloads returns the workloads that are named, and an error about those that there are not; without a namespace there must be one of the name.
func FindWorkloads(all []*unstructured.Unstructured, named []hubstate.Workload) (found []*unstructured.Unstructured, missing error) {
	for _, workload := range named {
		var namespaces []string
		var fitting []*unstructured.Unstructured
		for _, object := range all {
			if object.GroupVersionKind() != workload.Kind.GroupVersionKind || object.GetName() != workload.Name {
				continue
			}
			if workload.Namespace == "" || workload.Namespace == object.GetNamespace() {
				namespaces = append(namespaces, object.GetNamespace())
				fitting = append(fitting, object)
			}
		}
		slices.Sort(namespaces)
		switch len(namespaces) {
		case 0:
			name := strings.TrimPrefix(workload.Namespace+"/"+workload.Name, "/")
			missing = errors.Join(missing, fmt.Errorf("there is no %s %s; correct the name or the namespace", workload.Kind.Kind, name))
		case 1:
			found = append(found, fitting...)
		default:
			missing = errors.Join(missing, fmt.Errorf("there is a %s %s in each of the namespaces %s: choose one with -n",
				workload.Kind.Kind, workload.Name, strings.Join(namespaces, ", ")))
		}
	}
	return found, missing
}
