// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

// mutator injects policies into workloads. It allows every request: docs/spec/pod-scheduling-policy.md 2.1.6.
type mutator struct {
	source   *Source
	reporter *reporter
	turns    turns
	memo     memo
}

// Handle reviews one workload.
func (m *mutator) Handle(ctx context.Context, request admission.Request) (response admission.Response) {
	if request.UID == "" {
		return noReview()
	}
	var failed bool

	defer func() {
		// The wrapper of controller-runtime would refuse the workload.
		if problem := recover(); problem != nil {
			klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", problem), "Reviewing a workload", "stack", string(debug.Stack()))
			response, failed = unpatched(request, fmt.Errorf("panic: %v", problem)), true
		}
		metrics.ObservePodSchedulingReview(response.Allowed, len(response.Patch) > 0, failed)
	}()
	response, failed = m.mutate(ctx, request)
	return response
}

// mutate returns the response, and whether an error or an invalid policy had an effect on it.
func (m *mutator) mutate(ctx context.Context, request admission.Request) (response admission.Response, failed bool) {
	if request.SubResource != "" {
		return admission.Allowed("policies are not injected into subresources"), false
	}
	o, exemption, err := m.inject(ctx, request)
	busy := errors.Is(err, errBusy)
	if err != nil && !busy {
		return unpatched(request, err), true
	}

	response = admission.Allowed(string(exemption))
	if len(o.patch) > 0 {
		response.Patch, response.PatchType = o.patch, ptr.To(admissionv1.PatchTypeJSONPatch)
	}
	response.Warnings, failed = m.reporter.report(request, o.policies)
	if busy {
		response.Warnings = append(response.Warnings, m.reporter.busy(request))
	}
	return response, failed
}

// inject returns what the policies make of the workload, or why none is injected. With errBusy the outcome is that of the cluster policies.
func (m *mutator) inject(ctx context.Context, request admission.Request) (outcome, podscheduling.Exemption, error) {
	workload, err := podscheduling.ReadWorkload(schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}, request.Object.Raw)
	if err != nil {
		return outcome{}, podscheduling.NotExempt, err
	}
	if exemption := workload.Exemption(request.Operation == admissionv1.Update); exemption != podscheduling.NotExempt {
		return outcome{}, exemption, nil
	}

	policies, err := m.source.Policies(ctx)
	if err != nil {
		return outcome{}, podscheduling.NotExempt, err
	}
	namespaceLabels, err := m.source.NamespaceLabels(ctx, request.Namespace)
	if err != nil {
		return outcome{}, podscheduling.NotExempt, err
	}
	cluster := policies.MatchingCluster(namespaceLabels, workload.Labels)
	o, err := m.injectAll(ctx, workload, policies, question{cluster: cluster, own: policies.Own(request.Namespace)}, request.Namespace)
	return o, podscheduling.NotExempt, err
}

// injectAll injects the cluster policies of a question into a workload, and then those of its namespace, for one workload of the namespace at
// a time: docs/spec/trust.md T12. Another workload that has the same outcome needs no turn.
func (m *mutator) injectAll(
	ctx context.Context, workload *podscheduling.Workload, policies *podscheduling.Policies, asked question, namespace string,
) (outcome, error) {
	injection := podscheduling.NewInjection(workload)
	if len(asked.own) == 0 {
		if err := injection.Inject(ctx, asked.cluster); err != nil {
			return outcome{}, err
		}
		return newOutcome(injection)
	}

	identity, err := workload.Identity()
	if err != nil {
		return outcome{}, err
	}
	asked.workload = namespace + "/" + identity
	if known, found := m.memo.get(asked); found {
		return known, nil
	}

	if err := injection.Inject(ctx, asked.cluster); err != nil {
		return outcome{}, err
	}

	done, err := m.turns.take(ctx, namespace)
	if errors.Is(err, errBusy) {
		o, failed := newOutcome(injection)
		if failed != nil {
			return outcome{}, failed
		}
		return o, err
	}

	if err != nil {
		return outcome{}, err
	}
	defer done()
	if known, found := m.memo.get(asked); found {
		return known, nil
	}
	if err := injection.Inject(ctx, policies.MatchingOwn(namespace, workload.Labels)); err != nil {
		return outcome{}, err
	}

	o, err := newOutcome(injection)
	if err == nil {
		m.memo.put(asked, o)
	}
	return o, err
}

// unpatched allows a workload although its review failed.
func unpatched(request admission.Request, err error) admission.Response {
	message := fmt.Sprintf("no pod scheduling policy was injected into %s: %v; update or recreate it when that is solved", nameOf(request), err)
	response := admission.Allowed(message)
	response.Warnings = []string{webhook.Warning(message)}
	return response
}
