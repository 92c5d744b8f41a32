package inventory

// Corrupted damages what is derived from the objects, for a cluster, in every way there is; each returns the inventory to the present
// moment, so that the next snapshot shows the damage.
var Corrupted = map[string]func(i *Inventory, cluster string){
	"the views": func(i *Inventory, cluster string) {
		for _, v := range i.views.known {
			if v.memo == nil {
				v.matches.set(i.slots.numbers[cluster], !v.matches.bits.Test(i.slots.numbers[cluster]))
				i.views.changed[v] = struct{}{}
			}
		}
	},
	"the clauses that only causes look at": func(i *Inventory, cluster string) {
		for _, v := range i.views.known {
			if len(v.tellers) > 0 && len(v.readers) == 0 {
				v.matches.flip(i.slots.numbers[cluster])
				i.views.changed[v] = struct{}{}
			}
		}
	},
	"who is alive":   func(i *Inventory, cluster string) { i.alive.flip(i.slots.numbers[cluster]) },
	"who is tainted": func(i *Inventory, cluster string) { i.tainted.flip(i.slots.numbers[cluster]) },
	"the answers of CEL": func(i *Inventory, cluster string) {
		for _, v := range i.views.known {
			if v.memo != nil {
				said := &v.memo.answers[i.slots.numbers[cluster]]
				said.matched = !said.matched
			}
		}
	},
	"the counts of decisions": func(i *Inventory, cluster string) { i.decisions.totals.set(i.slots.numbers[cluster], 7) },
	"the highest count":       func(i *Inventory, _ string) { i.decisions.highest, i.decisions.frequencies = 9, vector[int32]{} },
}

func (f *flags) flip(slot uint) { f.set(slot, !f.bits.Test(slot)) }

// Corrupt does one of Corrupted.
func (i *Inventory) Corrupt(what, cluster string) {
	Corrupted[what](i, cluster)
	i.changed(anything)
}
