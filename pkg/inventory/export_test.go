// SPDX-License-Identifier: Apache-2.0

package inventory

// Corrupted maps each kind of derived data to a function that damages it for a cluster. The damage shows in the next snapshot after a call
// of Corrupt.
var Corrupted = map[string]func(i *Inventory, cluster string){
	"the views": func(i *Inventory, cluster string) {
		for _, v := range i.views.byIdentity {
			if v.celCache == nil {
				v.matches.set(i.ids.byName[cluster], !v.matches.bits.Test(i.ids.byName[cluster]))
				i.views.changed[v] = struct{}{}
			}
		}
	},
	"the clauses that only rejection reasons read": func(i *Inventory, cluster string) {
		for _, v := range i.views.byIdentity {
			if len(v.clauseDependents) > 0 && len(v.dependents) == 0 {
				v.matches.flip(i.ids.byName[cluster])
				i.views.changed[v] = struct{}{}
			}
		}
	},
	"the clusters that are not terminating": func(i *Inventory, cluster string) { i.alive.flip(i.ids.byName[cluster]) },
	"the clusters with taints":              func(i *Inventory, cluster string) { i.tainted.flip(i.ids.byName[cluster]) },
	"the cached verdicts of CEL": func(i *Inventory, cluster string) {
		for _, v := range i.views.byIdentity {
			if v.celCache != nil {
				id := i.ids.byName[cluster]
				cached := v.celCache.verdicts.get(id)
				cached.matched = !cached.matched
				v.celCache.verdicts.set(id, cached)
			}
		}
	},
	"the counts of decisions": func(i *Inventory, cluster string) { i.decisions.totals.set(i.ids.byName[cluster], 7) },
	"the highest count":       func(i *Inventory, _ string) { i.decisions.highest, i.decisions.frequencies = 9, vector[int32]{} },
}

func (f *flags) flip(id uint) { f.set(id, !f.bits.Test(id)) }

// Corrupt calls one function of Corrupted, and invalidates the current snapshot.
func (i *Inventory) Corrupt(what, cluster string) {
	Corrupted[what](i, cluster)
	i.changed(anyChange)
}
