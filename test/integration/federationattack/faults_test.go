// SPDX-License-Identifier: Apache-2.0

package federationattack

import (
	"fmt"

	"github.com/placement-hub/placement-hub/test/env/faults"
)

// watchedKinds are those that the hub watches for federated objects.
var watchedKinds = []string{
	"managedclusters", "managedclustersets", "managedclustersetbindings", "namespaces", "configmaps", "manifestworks", "placements",
	"placementdecisions",
}

// rules are the faults of which some strike in each batch.
func rules() []faults.Rule {
	var all []faults.Rule
	for _, kind := range watchedKinds {
		all = append(all, faults.RulesOfReads(kind)...)
	}
	for _, write := range []faults.Match{
		{Verbs: []string{"patch"}, Resources: []string{"manifestworks"}}, {Verbs: []string{"delete"}, Resources: []string{"manifestworks"}},
		{Verbs: []string{"patch"}, Resources: []string{"configmaps"}}, {Verbs: []string{"get"}},
	} {
		all = append(all, faults.RulesOfWrites(write)...)
	}
	return all
}

// strike puts up to two faults into force, some of them after a few requests.
func (a *arena) strike() (mends []func()) {
	for range a.random.IntN(3) {
		rule := pick(a.random, rules())
		rule.After = a.random.IntN(4)
		a.struck[fmt.Sprintf("%s of %v %v", rule.Fault, rule.Verbs, rule.Resources)]++
		mends = append(mends, a.hub.proxy.Break(rule))
	}
	return mends
}
