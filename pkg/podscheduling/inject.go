// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Result says what the policies make of the pod spec of a workload.
type Result struct {
	// Operations are the RFC 6902 patch of the object; empty if nothing changes.
	Operations []Operation
	// Policies has what each policy did, in the order of their application.
	Policies []PolicyResult
}

// PolicyResult says what one policy did.
type PolicyResult struct {
	Policy *Policy
	// Added names the fields that the policy added to, by their paths in the pod spec: nodeSelector[pool], tolerations. Empty if the workload
	// had everything already.
	Added []string
	// Skipped has what the policy did not add.
	Skipped []Skip
}

// Reason says why something of a policy is not injected.
type Reason string

// The reasons.
const (
	// Conflict: the workload, or a policy that comes before, has another value.
	Conflict Reason = "Conflict"
	// SchedulingGates: a Pod with scheduling gates may not name a node.
	SchedulingGates Reason = "SchedulingGates"
	// DaemonSetPod: the DaemonSet controller has chosen the node of the Pod by its template.
	DaemonSetPod Reason = "DaemonSetPod"
	// TooManyTerms: the product of the required terms of node affinities would have more than 256 terms; or the policy is beyond the limits
	// for the policies of one namespace, and skipped whole.
	TooManyTerms Reason = "TooManyTerms"
	// EmptyTerms: the policy's required terms of node affinity are all empty.
	EmptyTerms Reason = "EmptyTerms"
	// MatchesNothing: the workload's required terms of node affinity are all empty, so that it matches no node.
	MatchesNothing Reason = "MatchesNothing"
	// Invalid: the policy is invalid, and skipped whole.
	Invalid Reason = "Invalid"
)

// Skip is something of a policy that is not injected.
type Skip struct {
	// Field is the path of a field in the pod spec: nodeSelector[pool]; empty for a policy that is skipped whole.
	Field  string
	Reason Reason
	// Wanted and Own are the values of the policy and of the workload, for a Conflict.
	Wanted, Own string
	// Message is a sentence about it without the name of the policy.
	Message string
}

// injection is what a policy injects, prepared so that nothing has to be converted while a review waits.
type injection struct {
	nodeName, schedulerName string
	nodeSelector            map[string]string
	keys                    []string // of nodeSelector, sorted
	lists                   []listInjection
	hasRequired             bool       // the policy has required terms, maybe empty ones
	required                []nodeTerm // without empty terms
	// cost is that of everything that the policy lists, as if nothing was there.
	cost cost
}

// listInjection has the items that are appended to a list of the pod spec.
type listInjection struct {
	path  []string
	items []any
	keys  []string // the canonical texts of items
	costs []cost
}

// listPaths are the lists of a pod spec that are appended to.
var listPaths = [][]string{
	{tolerationsField},
	{affinityField, nodeAffinityField, preferredField},
	{affinityField, "podAffinity", requiredField},
	{affinityField, "podAffinity", preferredField},
	{affinityField, "podAntiAffinity", requiredField},
	{affinityField, "podAntiAffinity", preferredField},
}

// requiredPath is the path of the required terms of the node affinity.
var requiredPath = []string{affinityField, nodeAffinityField, requiredField, termsField}

func newInjection(c *Constraints) injection {
	spec := generic(map[string]any{tolerationsField: c.Tolerations, affinityField: c.Affinity})
	in := injection{
		nodeName: c.NodeName, schedulerName: c.SchedulerName, nodeSelector: c.NodeSelector,
		keys: slices.Sorted(maps.Keys(c.NodeSelector)), hasRequired: len(c.requiredTerms()) > 0,
	}
	for _, path := range listPaths {
		list := listInjection{path: path}
		known := map[string]bool{}
		for _, item := range at[[]any](spec, path...) {
			if key := canonical(item); !again(known, key) {
				list.items, list.keys, list.costs = append(list.items, item), append(list.keys, key), append(list.costs, itemCost(item, key))
				in.cost = in.cost.plus(itemCost(item, key))
			}
		}
		if len(list.items) > 0 {
			in.lists = append(in.lists, list)
		}
	}
	in.required = distinct(nodeTerms(at[[]any](spec, requiredPath...)))
	in.cost = in.cost.plus(new(vocabulary).list(in.required).cost).plus(selectorCost(in.nodeSelector))

	return in
}

// generic returns what a Go value is in JSON.
func generic(value any) map[string]any {
	text, err := json.Marshal(value)
	if err == nil {
		var decoded any
		if decoded, err = decode(text); err == nil {
			object, _ := decoded.(map[string]any) // The only caller gives an object.
			return object
		}
	}
	panic(fmt.Sprintf("encode constraints: %v", err)) // The API types can always be encoded.
}
