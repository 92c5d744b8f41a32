// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxErrors is how many errors of an invalid policy are named.
const maxErrors = 10

// Inject returns what the policies, in this order, make of the pod spec of a workload. The workload is not changed. Whether the object is
// exempt is the caller's question: see Workload.Exemption. Without a pod spec nothing is injected.
func Inject(w *Workload, policies []*Policy) Result {
	injection := NewInjection(w)
	injection.injectAll(policies, func() bool { return true })
	return injection.Result()
}

// Injection injects policies into one workload, step by step. It is not safe for concurrent use.
type Injection struct {
	workload *Workload
	spec     map[string]any // replaced as a whole by with, never changed in place
	results  []PolicyResult

	vocabulary vocabulary
	// required are the required terms without empty ones, once they have been prepared for comparison, and merged says that they are not
	// those of spec any more.
	required *termList
	merged   bool
	// lists are those of spec that a policy has been merged into, by their paths.
	lists map[string]*itemList
	// selectorRead says that cost has the node selector.
	selectorRead bool
	// cost is that of the node selector, the lists and the required terms that a policy has been merged into.
	cost cost
	// scheduled says that a policy has asked for a scheduler, even if for the default one.
	scheduled bool

	// matching is the number of policies of the namespace, and own that of those which have had their turn.
	matching, own int
	// limited says that the limits of a namespace hold for the policy that is being injected, and exceeded that it exceeds them.
	limited, exceeded bool
	// tooLarge is the first policy that has exceeded them.
	tooLarge *Policy

	added   []string
	skipped []Skip
}

// itemList is a list of the pod spec with the canonical texts of its items.
type itemList struct {
	items   []any
	present map[string]bool
}

// NewInjection returns an Injection of a workload that has no policies yet.
func NewInjection(w *Workload) *Injection {
	return &Injection{workload: w, spec: w.spec, lists: map[string]*itemList{}}
}

// Inject injects policies, in this order, after those that have been injected before. Cluster policies come first. It looks at ctx between
// two policies, and returns its error when it has ended; then the Injection is of no further use.
func (i *Injection) Inject(ctx context.Context, policies []*Policy) error {
	if !i.injectAll(policies, func() bool { return ctx.Err() == nil }) {
		return fmt.Errorf("injecting %d policies: %w", len(policies), context.Cause(ctx))
	}
	return nil
}

// Result returns what the policies so far make of the workload.
func (i *Injection) Result() Result {
	if i.spec == nil {
		return Result{}
	}
	spec := i.spec
	if i.merged {
		spec = with(spec, i.vocabulary.items(i.required), requiredPath...)
	}
	return Result{Operations: additions(i.workload.path, i.workload.spec, spec), Policies: i.results}
}

// injectAll injects policies as long as proceed agrees, and reports whether it did.
func (i *Injection) injectAll(policies []*Policy, proceed func() bool) bool {
	if i.spec == nil {
		return true
	}
	for _, policy := range policies {
		if policy.Namespace != "" {
			i.matching++
		}
	}
	for _, policy := range policies {
		if !proceed() {
			return false
		}
		i.added, i.skipped = nil, nil
		i.one(policy)
		i.results = append(i.results, PolicyResult{Policy: policy, Added: i.added, Skipped: i.skipped})
	}

	return true
}

// one injects a policy, unless it is beyond the limits of its namespace. After one that exceeds what the lists may have, all others of the
// namespace are skipped too, so that a second injection skips the same ones.
func (i *Injection) one(policy *Policy) {
	i.limited, i.exceeded = policy.Namespace != "", false
	if i.limited {
		i.own++
	}
	switch {
	case i.limited && i.own > MaxPolicies:
		i.skip(tooMany(i.matching))
	case len(policy.Errors) > 0:
		i.skip(Skip{Reason: Invalid, Message: "is invalid and skipped: " + problems(policy.Errors)})
	case i.limited && i.tooLarge != nil:
		i.skip(tooLarge(i.tooLarge))
	default:
		spec, required, merged := i.spec, i.required, i.merged
		i.exceeded = i.limited && !policy.inject.cost.within()
		if !i.exceeded {
			i.inject(policy)
		}
		if i.exceeded {
			i.spec, i.required, i.merged = spec, required, merged
			i.added, i.skipped, i.tooLarge = nil, []Skip{tooLarge(policy)}, policy
		}
	}
}

func (i *Injection) inject(policy *Policy) {
	ofDaemonSet := i.workload.ofDaemonSet()
	if !ofDaemonSet {
		i.injectNodeName(policy.inject.nodeName)
		i.injectNodeSelector(&policy.inject)
		i.injectRequired(&policy.inject)
	} else {
		i.skipForDaemonSet(&policy.inject)
	}
	i.injectSchedulerName(policy.inject.schedulerName)
	for at := range policy.inject.lists {
		list := &policy.inject.lists[at]
		if !ofDaemonSet || len(list.path) < 2 || list.path[1] != nodeAffinityField {
			i.injectList(list)
		}
	}
}

func (i *Injection) skip(skip Skip) { i.skipped = append(i.skipped, skip) }

func (i *Injection) conflict(name, wanted, own string) {
	i.skip(Skip{Field: name, Reason: Conflict, Wanted: wanted, Own: own, Message: fmt.Sprintf("%s: %q is kept, not %q", name, own, wanted)})
}

func (i *Injection) add(name string, value any, path ...string) {
	i.spec = with(i.spec, value, path...)
	i.added = append(i.added, name)
}

// within reports whether the lists may cost that much, and remembers if not.
func (i *Injection) within(c cost) bool {
	i.exceeded = i.exceeded || i.limited && !c.within()
	return !i.exceeded
}

func (i *Injection) injectNodeName(wanted string) {
	switch own := member[string](i.spec, nodeNameField); {
	case wanted == "" || own == wanted:
	case own != "":
		i.conflict(nodeNameField, wanted, own)
	case len(member[[]any](i.spec, gatesField)) > 0:
		i.skip(Skip{Field: nodeNameField, Reason: SchedulingGates, Wanted: wanted,
			Message: "nodeName: cannot be set until all schedulingGates have been cleared"})
	default:
		i.add(nodeNameField, wanted, nodeNameField)
	}
}

func (i *Injection) injectSchedulerName(wanted string) {
	if wanted == "" {
		return
	}
	own := member[string](i.spec, schedulerNameField)
	unset := (own == "" || own == defaultScheduler) && !i.scheduled
	i.scheduled = true
	switch {
	case own == wanted:
	case unset:
		i.add(schedulerNameField, wanted, schedulerNameField)
	default:
		i.conflict(schedulerNameField, wanted, own)
	}
}

func (i *Injection) injectNodeSelector(in *injection) {
	if len(in.keys) == 0 {
		return
	}
	own := member[map[string]any](i.spec, nodeSelectorField)
	if !i.selectorRead {
		i.selectorRead, i.cost = true, i.cost.plus(selectorCost(own))
	}
	merged := maps.Clone(own)
	if merged == nil {
		merged = map[string]any{}
	}
	var names []string
	more := cost{}
	for _, key := range in.keys {
		name, wanted := fmt.Sprintf("%s[%s]", nodeSelectorField, key), in.nodeSelector[key]
		switch value, found := own[key]; {
		case !found:
			merged[key], names, more = wanted, append(names, name), more.plus(cost{1, len(key) + len(wanted)})
		case value != any(wanted):
			i.conflict(name, wanted, fmt.Sprint(value))
		}
	}
	if len(names) > 0 && i.within(i.cost.plus(more)) {
		i.cost = i.cost.plus(more)
		i.spec = with(i.spec, merged, nodeSelectorField)
		i.added = append(i.added, names...)
	}
}

// list returns a list of the pod spec, prepared for comparison.
func (i *Injection) list(path []string) *itemList {
	name := joined(path)
	list := i.lists[name]
	if list == nil {
		items := at[[]any](i.spec, path...)
		list = &itemList{items: slices.Clip(items), present: make(map[string]bool, len(items))}
		for _, item := range items {
			key := canonical(item)
			list.present[key], i.cost = true, i.cost.plus(itemCost(item, key))
		}
		i.lists[name] = list
	}

	return list
}

// injectList appends the items that are not there yet.
func (i *Injection) injectList(in *listInjection) {
	list := i.list(in.path)
	items, more := slices.Clip(list.items), cost{}
	for at, item := range in.items {
		if !list.present[in.keys[at]] {
			items, more = append(items, item), more.plus(in.costs[at])
		}
	}
	if len(items) == len(list.items) || !i.within(i.cost.plus(more)) {
		return
	}
	for _, key := range in.keys {
		list.present[key] = true
	}
	list.items, i.cost = items, i.cost.plus(more)
	i.add(joined(in.path), items, in.path...)
}

// injectRequired merges the required terms of the node affinity: docs/spec/pod-scheduling-policy.md 2.1.4.
func (i *Injection) injectRequired(in *injection) {
	if !in.hasRequired {
		return
	}
	name := joined(requiredPath)
	if len(in.required) == 0 {
		i.skip(Skip{Field: name, Reason: EmptyTerms, Message: emptyTermsWarning})
		return
	}
	wanted := i.vocabulary.list(in.required)
	if i.required == nil {
		own := at[[]any](i.spec, requiredPath...)
		if len(own) == 0 {
			i.addRequired(name, wanted, cost{})
			return
		}
		i.required = i.vocabulary.list(nodeTerms(own))
		i.cost = i.cost.plus(i.required.cost)
	}
	if len(i.required.sets) == 0 {
		i.skip(Skip{Field: name, Reason: MatchesNothing, Message: name + ": has only empty terms, which match no node, and is kept so"})
		return
	}
	merged, reason := i.vocabulary.mergeTerms(i.required, wanted)
	switch {
	case reason != "":
		i.skip(Skip{Field: name, Reason: reason, Message: fmt.Sprintf("%s: %d terms of the policy times %d terms are more than %d, so none is added",
			name, len(in.required), len(i.required.sets), maxTerms)})
	case merged != nil:
		i.addRequired(name, merged, i.required.cost)
	}
}

// addRequired replaces the required terms, unless they would cost too much.
func (i *Injection) addRequired(name string, terms *termList, before cost) {
	after := i.cost.minus(before).plus(terms.cost)
	if i.within(after) {
		i.required, i.merged, i.cost = terms, true, after
		i.added = append(i.added, name)
	}
}

// skipForDaemonSet reports what the Pod of a DaemonSet does not get and does not have already. Whether its template had the required terms
// cannot be seen, because the controller has replaced them.
func (i *Injection) skipForDaemonSet(in *injection) {
	selector := member[map[string]any](i.spec, nodeSelectorField)
	for _, skipped := range []struct {
		field   string
		lacking bool
	}{
		{nodeNameField, in.nodeName != "" && member[string](i.spec, nodeNameField) != in.nodeName},
		{nodeSelectorField, slices.ContainsFunc(in.keys, func(key string) bool { return selector[key] != any(in.nodeSelector[key]) })},
		{affinityField + "." + nodeAffinityField, in.hasRequired || slices.ContainsFunc(in.lists, func(list listInjection) bool {
			return len(list.path) > 1 && list.path[1] == nodeAffinityField
		})},
	} {
		if skipped.lacking {
			i.skip(Skip{Field: skipped.field, Reason: DaemonSetPod, Message: skipped.field +
				": is not injected into a Pod of a DaemonSet, whose controller has chosen the node by the template"})
		}
	}
}

// problems returns the first errors of an invalid policy.
func problems(errs field.ErrorList) string {
	text := errs[:min(len(errs), maxErrors)].ToAggregate().Error()
	if more := len(errs) - maxErrors; more > 0 {
		text += fmt.Sprintf(" and %d more errors", more)
	}
	return text
}

func joined(path []string) string { return strings.Join(path, ".") }
