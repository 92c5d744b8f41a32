// SPDX-License-Identifier: Apache-2.0

package conformance

import "slices"

// Level is a set of rules. Extended includes Core, and Strict includes both. Consumer includes no other level.
type Level string

// The levels.
const (
	Core     Level = "Core"
	Extended Level = "Extended"
	Strict   Level = "Strict"
	Consumer Level = "Consumer"
)

// producerLevels are the levels of producers; each includes those before it.
var producerLevels = []Level{Core, Extended, Strict}

// includes reports whether a rule of another level belongs to the level.
func (l Level) includes(other Level) bool {
	if l == Consumer || other == Consumer {
		return l == other
	}
	return slices.Index(producerLevels, other) <= slices.Index(producerLevels, l)
}

// Rule is something that a producer, a consumer or the definitions of an API server keep.
type Rule struct {
	ID    string `json:"id"`
	Level Level  `json:"level"`
	Title string `json:"title"`
}

// The IDs of the rules. The rules of the level Core follow from the text of the API. The API requires none of the level Strict.
const (
	RuleSchema         = "PD1"
	RuleNamespace      = "PD2"
	RuleReference      = "PD3"
	RuleDecisionKey    = "PD4"
	RuleDecisionIndex  = "PD5"
	RuleOneNamespace   = "PD6"
	RuleNoDuplicate    = "PD7"
	RuleSchedulerName  = "PD8"
	RuleFollows        = "PD9"
	RuleDeletes        = "PD10"
	RuleForeign        = "PD11"
	RuleStays          = "PD12"
	RuleQuiet          = "PD13"
	RuleRestart        = "PD14"
	RuleUnion          = "PD15"
	RuleMove           = "PD16"
	RuleUnknownProfile = "PD17"
	RuleOtherScheduler = "PD18"
)

// Rules returns all rules in the order of their numbers.
func Rules() []Rule {
	return []Rule{
		{RuleSchema, Core, "decisions is required and may be empty, more than 100 and references without a name are refused, there is no status"},
		{RuleNamespace, Core, "a reference without a namespace means the namespace of its slice"},
		{RuleReference, Core, "every reference leads to a ClusterProfile that exists"},
		{RuleDecisionKey, Core, "all slices of a decision with more than one have the same decision-key"},
		{RuleDecisionIndex, Core, "decision-index, where it is present, counts from 0 without gaps or doubles"},
		{RuleOneNamespace, Core, "all slices of a decision are in one namespace"},
		{RuleNoDuplicate, Extended, "no cluster is twice in a decision"},
		{RuleSchedulerName, Extended, "schedulerName is set, and the same on all slices and at all times"},
		{RuleFollows, Extended, "the union of the slices becomes what was asked for: fewer, more than 100, more than 200, none"},
		{RuleDeletes, Extended, "no slice is left of a decision that is deleted"},
		{RuleForeign, Extended, "slices of others are not touched"},
		{RuleStays, Strict, "a cluster that stays selected is in the union of the slices at every moment"},
		{RuleQuiet, Strict, "nothing is written without a change"},
		{RuleRestart, Strict, "a restart writes nothing, and a kill between two writes is made good without losing a cluster that stays"},
		{RuleUnion, Consumer, "the clusters are the union of the slices with the decision-key, in any order, with and without decision-index"},
		{RuleMove, Consumer, "a cluster that moves from one slice to another is not removed"},
		{RuleUnknownProfile, Consumer, "a reference to an unknown ClusterProfile does not keep the others from being served"},
		{RuleOtherScheduler, Consumer, "slices of another scheduler with the same decision-key do not count"},
	}
}

// Finding is a rule that does not hold.
type Finding struct {
	Rule string `json:"rule"`
	// Object is the namespace and name of the slice; empty for a decision as a whole.
	Object  string `json:"object,omitempty"`
	Message string `json:"message"`
}

// String returns the finding as one line.
func (f Finding) String() string {
	if f.Object == "" {
		return f.Rule + ": " + f.Message
	}
	return f.Rule + ": " + f.Object + ": " + f.Message
}
