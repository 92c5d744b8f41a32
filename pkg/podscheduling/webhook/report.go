// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

const (
	// maxWarnings keeps all warnings of webhook.MaxWarningBytes far below the 4096 bytes that an API server passes on at most.
	maxWarnings = 10

	// eventBurst and eventsPerSecond limit the Events on one policy with one reason to those of the recorder of client-go (tools/record), and
	// maxEventKeys is for how many of them the limits are kept.
	eventBurst      = 25
	eventsPerSecond = 1. / 300
	maxEventKeys    = 4096

	// maxEvents bounds the Events of one review.
	maxEvents = 100

	// eventAction is the action of the Events.
	eventAction = "Inject"
)

// reporter reports to users and to the authors of policies what was not injected.
type reporter struct {
	recorder events.EventRecorder
	limit    *record.EventSourceObjectSpamFilter
}

func newReporter(recorder events.EventRecorder) *reporter {
	return &reporter{recorder, record.NewEventSourceObjectSpamFilter(maxEventKeys, eventBurst, eventsPerSecond, clock.RealClock{},
		func(event *corev1.Event) string { return string(event.InvolvedObject.UID) + event.Reason })}
}

// report counts what was skipped, sends the Events about it unless the request is a dry run, and returns the warnings and whether one of the
// policies is invalid.
//
// What the Pod of a DaemonSet does not get has no warning and no Event: the DaemonSet controller chose its node by the template, where the
// same constraints were injected, so nothing is lost, and the user of the request is that controller.
func (r *reporter) report(request admission.Request, policies []podscheduling.PolicyResult) (warnings []string, invalid bool) {
	reported := 0
	for _, result := range policies {
		for _, skip := range result.Skipped {
			metrics.PodSchedulingSkips.WithLabelValues(string(skip.Reason)).Inc()
			if skip.Reason == podscheduling.DaemonSetPod {
				continue
			}
			invalid = invalid || skip.Reason == podscheduling.Invalid

			reported++
			if reported <= maxWarnings {
				warnings = append(warnings, webhook.Warning(result.Policy.String()+": "+sentence(skip)))
			}
			if reported <= maxEvents && !ptr.Deref(request.DryRun, false) {
				r.send(result.Policy, skip.Reason, nameOf(request)+": "+sentence(skip))
			}
		}
	}

	if reported > maxWarnings {
		warnings[maxWarnings-1] = webhook.Warning(fmt.Sprintf(
			"pod scheduling policies: %d more warnings; the Events of the policies have the first %d", reported-maxWarnings+1, maxEvents))
	}
	return warnings, invalid
}

// busy counts a review that found no turn in its namespace, and returns the warning.
func (r *reporter) busy(request admission.Request) string {
	metrics.PodSchedulingSkips.WithLabelValues(namespaceBusy).Inc()
	return webhook.Warning(fmt.Sprintf("the PodSchedulingPolicies of namespace %s were not injected into %s: %v; update or recreate it later",
		request.Namespace, nameOf(request), errBusy))
}

// send sends an Event on a policy.
func (r *reporter) send(policy *podscheduling.Policy, reason podscheduling.Reason, note string) {
	regarding := corev1.ObjectReference{
		APIVersion: kupidv1alpha1.GroupVersion.String(), Kind: policy.Kind(), Namespace: policy.Namespace, Name: policy.Name, UID: policy.UID,
	}
	if exceeded := r.limit.Filter(&corev1.Event{InvolvedObject: regarding, Reason: string(reason)}); !exceeded {
		r.recorder.Eventf(&regarding, nil, corev1.EventTypeWarning, string(reason), eventAction, "%s", note)
	}
}

// sentence says what was skipped.
func sentence(skip podscheduling.Skip) string {
	if skip.Field == "" {
		return "the policy " + skip.Message
	}
	return skip.Message
}

// nameOf names the workload of a request. The name of a new object with generateName is not known yet.
func nameOf(request admission.Request) string {
	if request.Name == "" {
		return fmt.Sprintf("a new %s in namespace %s", request.Kind.Kind, request.Namespace)
	}
	return fmt.Sprintf("%s %s/%s", request.Kind.Kind, request.Namespace, request.Name)
}

// bounded returns as many warnings as an API server passes on.
func bounded(warnings []string) []string {
	if len(warnings) > maxWarnings {
		more := fmt.Sprintf("pod scheduling policies: %d more warnings", len(warnings)-maxWarnings+1)
		warnings = append(warnings[:maxWarnings-1:maxWarnings-1], more)
	}
	for i := range warnings {
		warnings[i] = webhook.Warning(warnings[i])
	}
	return warnings
}
