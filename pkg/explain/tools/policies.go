// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// WorkloadsIn returns the workloads for which a Question compares policies; it is never nil. The hub reads them one by one, because it lists none.
func WorkloadsIn(question *endpoint.Question) []hubstate.Workload {
	workloads := make([]hubstate.Workload, 0, len(question.Workloads))
	for _, object := range question.Workloads {
		if kind, known := pods.KindOfGroup(object.GroupKind()); known {
			workloads = append(workloads, hubstate.Workload{Kind: kind, Namespace: question.Namespace, Name: object.Name})
		}
	}
	return workloads
}

// noteWorkloads adds notes on the workloads that a comparison of policies leaves out.
func noteWorkloads(differences *pods.Differences, question *endpoint.Question) {
	var unlisted []string
	for _, kind := range pods.Kinds() {
		if !slices.Contains(question.Kinds, endpoint.KindRef{Group: kind.Group, Kind: kind.Kind}) {
			unlisted = append(unlisted, kind.Kind)
		}
	}
	note := func(format string, arguments ...any) {
		differences.Notes = append(differences.Notes, fmt.Sprintf(format, arguments...))
	}
	switch len(unlisted) {
	case 0:
	case len(pods.Kinds()):
		differences.WorkloadsUnread = true
		note("what the policies change for workloads is not in the report: this user may list none in namespace %s", question.Namespace)
	default:
		note("workloads of the kinds %s are not in the report: this user may list none in namespace %s",
			strings.Join(unlisted, ", "), question.Namespace)
	}
	if question.WorkloadsLeftOut > 0 {
		note("%d more workloads are not in the report, because the hub compares %d at once; to see what the policies do to them, put them and the "+
			"policies into files and use placement simulate --add -f FILE", question.WorkloadsLeftOut, endpoint.MaxWorkloads)
	}
}
