package podconstraints

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	// TooManyTerms: the product of the required terms of node affinities would have more than 256 terms.
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
	// Field is the path of a field in the pod spec: nodeSelector[pool]; empty for Invalid.
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
}

// listInjection has the items that are appended to a list of the pod spec.
type listInjection struct {
	path  []string
	items []any
	keys  []string // the canonical texts of items
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
		list := listInjection{path: path, items: at[[]any](spec, path...)}
		for _, item := range list.items {
			list.keys = append(list.keys, canonical(item))
		}
		if len(list.items) > 0 {
			in.lists = append(in.lists, list)
		}
	}
	in.required = slices.DeleteFunc(nodeTerms(at[[]any](spec, requiredPath...)), nodeTerm.empty)

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

// Inject returns what the policies, in this order, make of the pod spec of a workload. The workload is not changed. Whether the object is
// exempt is the caller's question: see Workload.Exemption. Without a pod spec nothing is injected.
func Inject(w *Workload, policies []*Policy) Result {
	if w.spec == nil {
		return Result{}
	}
	m := merge{workload: w, spec: w.spec}
	var result Result
	for _, policy := range policies {
		m.added, m.skipped = nil, nil
		m.inject(policy)
		result.Policies = append(result.Policies, PolicyResult{Policy: policy, Added: m.added, Skipped: m.skipped})
	}
	result.Operations = additions(w.path, w.spec, m.spec)

	return result
}

// merge is the state of an injection.
type merge struct {
	workload *Workload
	spec     map[string]any // replaced as a whole by with, never changed in place
	// terms are the required terms of spec without empty ones, once they have been prepared for comparison.
	terms []nodeTerm
	// scheduled says that a policy has asked for a scheduler, even if for the default one.
	scheduled bool

	added   []string
	skipped []Skip
}

func (m *merge) inject(policy *Policy) {
	if len(policy.Errors) > 0 {
		m.skip(Skip{Reason: Invalid, Message: "is invalid and skipped: " + policy.Errors.ToAggregate().Error()})

		return
	}
	ofDaemonSet := m.workload.ofDaemonSet()
	if !ofDaemonSet {
		m.injectNodeName(policy.inject.nodeName)
		m.injectNodeSelector(&policy.inject)
		m.injectRequired(&policy.inject)
	} else {
		m.skipForDaemonSet(&policy.inject)
	}
	m.injectSchedulerName(policy.inject.schedulerName)
	for i := range policy.inject.lists {
		list := &policy.inject.lists[i]
		if !ofDaemonSet || len(list.path) < 2 || list.path[1] != nodeAffinityField {
			m.injectList(list)
		}
	}
}

func (m *merge) skip(skip Skip) { m.skipped = append(m.skipped, skip) }

func (m *merge) conflict(name, wanted, own string) {
	m.skip(Skip{Field: name, Reason: Conflict, Wanted: wanted, Own: own, Message: fmt.Sprintf("%s: %q is kept, not %q", name, own, wanted)})
}

func (m *merge) add(name string, value any, path ...string) {
	m.spec = with(m.spec, value, path...)
	m.added = append(m.added, name)
}

func (m *merge) injectNodeName(wanted string) {
	switch own := member[string](m.spec, nodeNameField); {
	case wanted == "" || own == wanted:
	case own != "":
		m.conflict(nodeNameField, wanted, own)
	case len(member[[]any](m.spec, gatesField)) > 0:
		m.skip(Skip{Field: nodeNameField, Reason: SchedulingGates, Wanted: wanted,
			Message: "nodeName: cannot be set until all schedulingGates have been cleared"})
	default:
		m.add(nodeNameField, wanted, nodeNameField)
	}
}

func (m *merge) injectSchedulerName(wanted string) {
	if wanted == "" {
		return
	}
	own := member[string](m.spec, schedulerNameField)
	unset := (own == "" || own == defaultScheduler) && !m.scheduled
	m.scheduled = true
	switch {
	case own == wanted:
	case unset:
		m.add(schedulerNameField, wanted, schedulerNameField)
	default:
		m.conflict(schedulerNameField, wanted, own)
	}
}

func (m *merge) injectNodeSelector(in *injection) {
	own := member[map[string]any](m.spec, nodeSelectorField)
	for _, key := range in.keys {
		name, wanted := fmt.Sprintf("%s[%s]", nodeSelectorField, key), in.nodeSelector[key]
		switch value, found := own[key]; {
		case !found:
			m.add(name, wanted, nodeSelectorField, key)
		case value != any(wanted):
			m.conflict(name, wanted, fmt.Sprint(value))
		}
	}
}

// injectList appends the items that are not there yet.
func (m *merge) injectList(in *listInjection) {
	own := at[[]any](m.spec, in.path...)
	present := make(map[string]bool, len(own))
	for _, item := range own {
		present[canonical(item)] = true
	}
	list := slices.Clip(own)
	for i, item := range in.items {
		if !present[in.keys[i]] {
			list = append(list, item)
		}
	}
	if len(list) > len(own) {
		m.add(joined(in.path), list, in.path...)
	}
}

// injectRequired merges the required terms of the node affinity: docs/spec/pod-scheduling-policy.md 2.1.4.
func (m *merge) injectRequired(in *injection) {
	if !in.hasRequired {
		return
	}
	name := joined(requiredPath)
	if len(in.required) == 0 {
		m.skip(Skip{Field: name, Reason: EmptyTerms, Message: emptyTermsWarning})

		return
	}
	own := at[[]any](m.spec, requiredPath...)
	if len(own) == 0 {
		m.addRequired(name, in.required)

		return
	}
	if m.terms == nil {
		m.terms = slices.DeleteFunc(nodeTerms(own), nodeTerm.empty)
	}
	if len(m.terms) == 0 {
		m.skip(Skip{Field: name, Reason: MatchesNothing, Message: name + ": has only empty terms, which match no node, and is kept so"})

		return
	}
	merged, reason := mergeTerms(m.terms, in.required)
	switch {
	case reason != "":
		m.skip(Skip{Field: name, Reason: reason, Message: fmt.Sprintf(
			"%s: %d terms of the policy times %d terms are more than %d, so none is added", name, len(in.required), len(m.terms), maxTerms)})
	case merged != nil:
		m.addRequired(name, merged)
	}
}

func (m *merge) addRequired(name string, terms []nodeTerm) {
	m.terms = terms
	m.add(name, objects(terms), requiredPath...)
}

// skipForDaemonSet reports what the Pod of a DaemonSet does not get and does not have already. Whether its template had the required terms
// cannot be seen, because the controller has replaced them.
func (m *merge) skipForDaemonSet(in *injection) {
	selector := member[map[string]any](m.spec, nodeSelectorField)
	for _, skipped := range []struct {
		field   string
		lacking bool
	}{
		{nodeNameField, in.nodeName != "" && member[string](m.spec, nodeNameField) != in.nodeName},
		{nodeSelectorField, slices.ContainsFunc(in.keys, func(key string) bool { return selector[key] != any(in.nodeSelector[key]) })},
		{affinityField + "." + nodeAffinityField, in.hasRequired || slices.ContainsFunc(in.lists, func(list listInjection) bool {
			return len(list.path) > 1 && list.path[1] == nodeAffinityField
		})},
	} {
		if skipped.lacking {
			m.skip(Skip{Field: skipped.field, Reason: DaemonSetPod, Message: skipped.field +
				": is not injected into a Pod of a DaemonSet, whose controller has chosen the node by the template"})
		}
	}
}

func joined(path []string) string { return strings.Join(path, ".") }
