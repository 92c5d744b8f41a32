// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

// explainPolicies says of every policy what it does with a workload, or why it does nothing.
func (e *Evaluator) explainPolicies(ev *evaluation) []Policy {
	policies := make([]Policy, 0, len(e.prepared))
	matching := e.matching(ev.workload)
	blank := ev.workload.WithoutConstraints()
	for i, policy := range matching {
		explained := Policy{Policy: policy.String(), Matches: true, Warnings: policy.Warnings}
		if ev.exempt == "" {
			explained.add(&ev.result.Policies[i], podscheduling.Inject(blank, []*podscheduling.Policy{policy}))
		}
		policies = append(policies, explained)
	}

	namespaceLabels := e.namespaceLabels(ev.workload.Namespace)
	for _, policy := range e.prepared {
		if !slices.Contains(matching, policy) {
			mismatch := policy.Mismatch(ev.workload.Namespace, namespaceLabels, ev.workload.Labels)
			policies = append(policies, Policy{
				Policy: policy.String(), Mismatch: explainMismatch(mismatch, namespaceLabels, ev.workload.Labels), Warnings: policy.Warnings,
			})
		}
	}
	return policies
}

// add adds the result of a policy, and as Has the fields that it would add to a pod spec without constraints and does not add here.
func (p *Policy) add(result *podscheduling.PolicyResult, alone podscheduling.Result) {
	p.Adds = result.Added

	skipped := make([]string, 0, len(result.Skipped))
	whole := false // the policy is skipped as a whole
	for _, skip := range result.Skipped {
		p.Skipped = append(p.Skipped, Skip{Field: skip.Field, Reason: string(skip.Reason), Message: skip.Message})
		skipped, whole = append(skipped, skip.Field), whole || skip.Field == ""
	}
	if whole {
		return
	}

	for _, field := range alone.Policies[0].Added {
		if !slices.Contains(result.Added, field) && !slices.Contains(skipped, field) {
			p.Has = append(p.Has, field)
		}
	}
}

// explainMismatch says why a policy does not match, with the label that decides.
func explainMismatch(mismatch podscheduling.Mismatch, namespaceLabels, podLabels map[string]string) string {
	switch mismatch.Reason {
	case podscheduling.OtherNamespace:
		return "applies to its own namespace only"
	case podscheduling.NoNamespaceSelector:
		return "spec.namespaceSelector is absent, so it selects no namespaces"
	case podscheduling.NoPodSelector:
		return "spec.podSelector is absent, so it selects no Pods"
	case podscheduling.NamespaceLabels:
		return fmt.Sprintf("namespace label %s: %s", mismatch.Requirement, valueOf(namespaceLabels, mismatch.Key))
	default:
		return fmt.Sprintf("pod label %s: %s", mismatch.Requirement, valueOf(podLabels, mismatch.Key))
	}
}

func valueOf(labels map[string]string, key string) string {
	if value, found := labels[key]; found {
		return fmt.Sprintf("is %q", value)
	}
	return "is absent"
}

// drift returns the fields that the policies would add to an existing workload, each once.
func drift(ev *evaluation) []string {
	var fields []string
	for _, policy := range ev.result.Policies {
		for _, field := range policy.Added {
			if !slices.Contains(fields, field) {
				fields = append(fields, field)
			}
		}
	}
	return fields
}
