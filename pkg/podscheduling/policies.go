// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// Policies are all policies of a hub in the order of their application: docs/spec/pod-scheduling-policy.md 2.1.3. The value is immutable.
type Policies struct {
	cluster    []*Policy
	namespaced map[string][]*Policy
}

// NewPolicies arranges policies, whose order does not matter.
func NewPolicies(policies []*Policy) *Policies {
	arranged := &Policies{namespaced: map[string][]*Policy{}}
	for _, policy := range slices.SortedFunc(slices.Values(policies), func(a, b *Policy) int { return cmp.Compare(a.Name, b.Name) }) {
		if policy.Namespace == "" {
			arranged.cluster = append(arranged.cluster, policy)
		} else {
			arranged.namespaced[policy.Namespace] = append(arranged.namespaced[policy.Namespace], policy)
		}
	}
	return arranged
}

// Matching returns the policies that apply to pods with these labels in a namespace: cluster policies by name, then those of the namespace
// by name. Among them are invalid ones, which Inject reports and skips.
func (p *Policies) Matching(namespace string, namespaceLabels, podLabels map[string]string) []*Policy {
	return append(p.MatchingCluster(namespaceLabels, podLabels), p.MatchingOwn(namespace, podLabels)...)
}

// MatchingCluster returns the cluster policies among Matching.
func (p *Policies) MatchingCluster(namespaceLabels, podLabels map[string]string) []*Policy {
	return matching(p.cluster, namespaceLabels, podLabels)
}

// MatchingOwn returns the policies of the namespace among Matching.
func (p *Policies) MatchingOwn(namespace string, podLabels map[string]string) []*Policy {
	return matching(p.namespaced[namespace], nil, podLabels)
}

// Own returns the policies of a namespace by name, whether they match or not. The slice is not to be changed.
func (p *Policies) Own(namespace string) []*Policy { return p.namespaced[namespace] }

func matching(policies []*Policy, namespaceLabels, podLabels map[string]string) []*Policy {
	var found []*Policy
	for _, policy := range policies {
		if policy.matches(labels.Set(namespaceLabels), labels.Set(podLabels)) {
			found = append(found, policy)
		}
	}
	return found
}
