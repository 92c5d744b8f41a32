// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	inventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// maxDecisions is how many decisions a slice may have.
const maxDecisions = 100

// ProfileRef is the namespace and name of a ClusterProfile.
type ProfileRef = types.NamespacedName

// Check returns what is wrong with the slices of one decision by the rules PD1 to PD8. It reads its arguments alone and changes none of them. The
// profiles are those that exist. The findings are in the order of the rules, then of the slices as they are given.
func Check(decision []inventory.PlacementDecision, profiles []inventory.ClusterProfile) []Finding {
	known := newProfileSet(profiles)
	findings := slices.Concat(
		checkSchema(decision), checkReferences(decision, known), checkKeys(decision), checkIndices(decision), checkNamespaces(decision),
		checkDuplicates(decision), checkScheduler(decision))
	order := map[string]int{}
	for i, rule := range Rules() {
		order[rule.ID] = i
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return order[a.Rule] - order[b.Rule] })
	return findings
}

// profileSet has the ClusterProfiles that exist.
type profileSet struct {
	refs  map[ProfileRef]bool
	names map[string][]string // the namespaces of each name
}

func newProfileSet(profiles []inventory.ClusterProfile) profileSet {
	set := profileSet{refs: map[ProfileRef]bool{}, names: map[string][]string{}}
	for i := range profiles {
		p := &profiles[i]
		set.refs[ProfileRef{Namespace: p.Namespace, Name: p.Name}] = true
		set.names[p.Name] = append(set.names[p.Name], p.Namespace)
	}
	return set
}

// resolve returns the ClusterProfile that a decision of a slice means.
func resolve(slice *inventory.PlacementDecision, decision *inventory.ClusterDecision) ProfileRef {
	ref := ProfileRef{Namespace: decision.ClusterProfileRef.Namespace, Name: decision.ClusterProfileRef.Name}
	if ref.Namespace == "" {
		ref.Namespace = slice.Namespace
	}
	return ref
}

// Union returns the ClusterProfiles that the slices name.
func Union(decision []inventory.PlacementDecision) map[ProfileRef]bool {
	union := map[ProfileRef]bool{}
	for i := range decision {
		for j := range decision[i].Decisions {
			union[resolve(&decision[i], &decision[i].Decisions[j])] = true
		}
	}
	return union
}

func nameOf(slice *inventory.PlacementDecision) string { return slice.Namespace + "/" + slice.Name }

// found returns a finding in a slice.
func found(rule string, slice *inventory.PlacementDecision, format string, arguments ...any) Finding {
	return Finding{Rule: rule, Object: nameOf(slice), Message: fmt.Sprintf(format, arguments...)}
}

func checkSchema(decision []inventory.PlacementDecision) []Finding {
	var findings []Finding
	for i := range decision {
		slice := &decision[i]
		if slice.Decisions == nil {
			findings = append(findings, found(RuleSchema, slice, "decisions: Required value: an empty list says that nothing is selected"))
		}
		if len(slice.Decisions) > maxDecisions {
			findings = append(findings, found(RuleSchema, slice, "decisions: %d items: must have at most %d", len(slice.Decisions), maxDecisions))
		}
		for j := range slice.Decisions {
			if slice.Decisions[j].ClusterProfileRef.Name == "" {
				findings = append(findings, found(RuleSchema, slice, "decisions[%d].clusterProfileRef.name: Required value", j))
			}
		}
	}
	return findings
}

// checkReferences reports references that lead nowhere: by the rule of namespaces if the name exists in another one.
func checkReferences(decision []inventory.PlacementDecision, known profileSet) []Finding {
	var findings []Finding
	for i := range decision {
		slice := &decision[i]
		for j := range slice.Decisions {
			ref, elsewhere := resolve(slice, &slice.Decisions[j]), known.names[slice.Decisions[j].ClusterProfileRef.Name]
			field := fmt.Sprintf("decisions[%d].clusterProfileRef", j)
			switch {
			case known.refs[ref] || ref.Name == "":
			case slice.Decisions[j].ClusterProfileRef.Namespace == "" && len(elsewhere) > 0:
				findings = append(findings, found(RuleNamespace, slice, "%s.namespace is empty, which means %s, and ClusterProfile %q is in %s",
					field, slice.Namespace, ref.Name, strings.Join(elsewhere, ", ")))
			default:
				findings = append(findings, found(RuleReference, slice, "%s: ClusterProfile %s does not exist", field, ref))
			}
		}
	}
	return findings
}

func checkKeys(decision []inventory.PlacementDecision) []Finding {
	if len(decision) < 2 {
		return nil
	}
	var findings []Finding
	first := decision[0].Labels[inventory.DecisionKeyLabel]
	for i := range decision {
		key := decision[i].Labels[inventory.DecisionKeyLabel]
		switch {
		case key == "":
			findings = append(findings, found(RuleDecisionKey, &decision[i], "label %s is missing: it is required, as the decision has %d slices",
				inventory.DecisionKeyLabel, len(decision)))
		case first != "" && key != first:
			findings = append(findings, found(RuleDecisionKey, &decision[i], "label %s is %q, and %q on %s",
				inventory.DecisionKeyLabel, key, first, nameOf(&decision[0])))
		}
	}
	return findings
}

func checkIndices(decision []inventory.PlacementDecision) []Finding {
	var findings []Finding
	at := map[int]string{}
	for i := range decision {
		slice := &decision[i]
		text, labelled := slice.Labels[inventory.DecisionIndexLabel]
		if !labelled {
			continue
		}
		index, err := strconv.Atoi(text)
		if err != nil || index < 0 || strconv.Itoa(index) != text {
			findings = append(findings, found(RuleDecisionIndex, slice, "label %s is %q: must be a number from 0",
				inventory.DecisionIndexLabel, text))
			continue
		}
		if other, taken := at[index]; taken {
			findings = append(findings, found(RuleDecisionIndex, slice, "label %s is %d, as that of %s",
				inventory.DecisionIndexLabel, index, other))
		}
		at[index] = nameOf(slice)
	}

	for index := range len(at) {
		if _, present := at[index]; !present {
			return append(findings, Finding{Rule: RuleDecisionIndex, Message: fmt.Sprintf(
				"no slice has label %s %d, and %d slices have one", inventory.DecisionIndexLabel, index, len(at))})
		}
	}
	return findings
}

func checkNamespaces(decision []inventory.PlacementDecision) []Finding {
	var findings []Finding
	for i := range decision {
		if decision[i].Namespace != decision[0].Namespace {
			findings = append(findings, found(RuleOneNamespace, &decision[i], "another slice of the decision is in namespace %s",
				decision[0].Namespace))
		}
	}
	return findings
}

func checkDuplicates(decision []inventory.PlacementDecision) []Finding {
	var findings []Finding
	in := map[ProfileRef]string{}
	for i := range decision {
		for j := range decision[i].Decisions {
			ref := resolve(&decision[i], &decision[i].Decisions[j])
			if other, twice := in[ref]; twice {
				findings = append(findings, found(RuleNoDuplicate, &decision[i], "decisions[%d]: ClusterProfile %s is also in %s", j, ref, other))
			}
			in[ref] = nameOf(&decision[i])
		}
	}
	return findings
}

func checkScheduler(decision []inventory.PlacementDecision) []Finding {
	var findings []Finding
	for i := range decision {
		switch name := decision[i].SchedulerName; name {
		case "":
			findings = append(findings, found(RuleSchedulerName, &decision[i], "schedulerName is empty: consumers tell schedulers apart by it"))
		case decision[0].SchedulerName:
		default:
			findings = append(findings, found(RuleSchedulerName, &decision[i], "schedulerName is %q, and %q on %s",
				name, decision[0].SchedulerName, nameOf(&decision[0])))
		}
	}
	return findings
}
