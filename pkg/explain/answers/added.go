// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// otherWorkloadsUnread is a note of a simulation by the hub.
const otherWorkloadsUnread = "what the policies change for workloads that exist is not in the report, because the hub lists none"

// simulateAdded reports where the Pods of the workloads of a Question may run, also with its PodSchedulingPolicies, as placement simulate --add does.
// The caller may write each of them. What the policies change for other workloads is not in the answer, because the hub lists no workloads.
func (e *Explainer) simulateAdded(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	reader, err := e.Definitions.Reader(statefile.Applied, statefile.Namespace{Name: question.Namespace}, e.Delivered)
	if err != nil {
		return endpoint.Answer{}, err
	}
	reader.Read("manifests", []byte(question.Manifests))
	given, err := reader.Additions()
	if err != nil {
		return endpoint.Answer{}, &endpoint.AnswerError{Err: err}
	}
	namespace, objects, err := tools.ObjectsToAdd(given, e.Delivered)
	if err == nil {
		err = checkNamed(question, namespace, objects)
	}
	if err != nil {
		return endpoint.Answer{}, &endpoint.AnswerError{Err: err}
	}
	hub, err := hubstate.PodInputsFromCluster(ctx, e.Client, namespace)
	if err != nil {
		return endpoint.Answer{}, err
	}
	hub.Missing = unreadByHub(hub.Missing)
	added := &tools.Addition{System: tools.Pods{}, Given: given, Hub: &explain.State{Pods: *hub}}
	if _, err := reader.Review(ctx, added.Hub); err != nil {
		return endpoint.Answer{}, &endpoint.AnswerError{Err: err}
	}
	whatIf := tools.WithoutPlacements(metav1.NewTime(e.Now()))
	refused, err := added.System.Simulate(added, &whatIf, namespace)
	if err != nil {
		return endpoint.Answer{}, err
	}
	for i := range whatIf.Workloads {
		pods.LimitReport(&whatIf.Workloads[i])
	}
	whatIf.Pods.WorkloadsUnread = true
	if len(given.Pods.Policies) > 0 {
		whatIf.Pods.Notes = append(whatIf.Pods.Notes, otherWorkloadsUnread)
	}
	answer, err := answerWith(question, whatIf, DifferenceStyle(question.ShowKept))
	if err != nil {
		return endpoint.Answer{}, err
	}
	answer.Differs = whatIf.Differs()
	if refused != nil {
		return answer, &endpoint.AnswerError{Err: refused}
	}
	return answer, nil
}
