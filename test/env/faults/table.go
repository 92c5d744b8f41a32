// SPDX-License-Identifier: Apache-2.0

package faults

// OfWrites has the ways in which a request that writes or reads one object fails. Every system has to bear each of them.
var OfWrites = []Fault{Conflict, Invalid, TooManyRequests, InternalError, Unavailable, Timeout, Hang, Reset, Lost}

// RulesOfWrites returns a rule for each of the faults OfWrites.
func RulesOfWrites(write Match) []Rule {
	rules := make([]Rule, 0, len(OfWrites))
	for _, fault := range OfWrites {
		rules = append(rules, Rule{Match: write, Fault: fault})
	}
	return rules
}

// Reads matches the requests by which a client follows a resource.
func Reads(resource string) Match {
	return Match{Verbs: []string{"list", "watch"}, Resources: []string{resource}}
}

// Watches matches the watches of a resource.
func Watches(resource string) Match {
	return Match{Verbs: []string{"watch"}, Resources: []string{resource}}
}

// RulesOfReads returns the ways in which a client that follows a resource falls behind: its watch shows nothing more, breaks, cannot be made
// again, or has to begin again.
func RulesOfReads(resource string) []Rule {
	return []Rule{
		{Match: Watches(resource), Fault: Delay}, {Match: Watches(resource), Fault: Reset},
		{Match: Reads(resource), Fault: Unavailable}, {Match: Reads(resource), Fault: Gone},
	}
}
