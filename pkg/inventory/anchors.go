package inventory

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// anchor is a value of a label or a claim without which (or another one of the same requirement) a selector does not match.
type anchor struct {
	key   clusterinfo.Property
	value string
}

// anchors have for each label and claim that a view asks a value of the clusters that have one, so that a new view is made of those that
// can match.
type anchors struct {
	byKey map[clusterinfo.Property]*values
}

// values are the clusters by their value of one key, in no order.
type values struct {
	users int
	slots map[string][]uint32
}

func newAnchors() *anchors { return &anchors{byKey: map[clusterinfo.Property]*values{}} }

// use keeps the values of a key, until as many calls of drop.
func (a *anchors) use(key clusterinfo.Property, all clusters) {
	known := a.byKey[key]
	if known == nil {
		known = &values{}
		known.find(key, all)
		a.byKey[key] = known
	}

	known.users++
}

func (a *anchors) drop(key clusterinfo.Property) {
	if known := a.byKey[key]; known != nil {
		known.users--
		if known.users == 0 {
			delete(a.byKey, key)
		}
	}
}

func (v *values) find(key clusterinfo.Property, all clusters) {
	v.slots = map[string][]uint32{}

	for slot, f := range all {
		if value, has := f.Value(key); has {
			v.slots[value] = append(v.slots[value], uint32(slot))
		}
	}
}

// findAll finds all values anew.
func (a *anchors) findAll(all clusters) {
	for key, known := range a.byKey {
		known.find(key, all)
	}
}

// change brings the values of a cluster up to date; the cluster is nil where it does not exist.
func (a *anchors) change(slot uint, before, after *clusterinfo.ClusterInfo, changes []clusterinfo.Property) {
	if comesOrGoes(before, after) {
		a.eachOf(before, func(v *values, value string) { v.remove(value, slot) })
		a.eachOf(after, func(v *values, value string) { v.add(value, slot) })

		return
	}

	for _, key := range changes {
		known := a.byKey[key]
		if known == nil {
			continue
		}

		if value, had := before.Value(key); had {
			known.remove(value, slot)
		}

		if value, has := after.Value(key); has {
			known.add(value, slot)
		}
	}
}

// eachOf visits the values of a cluster that are kept.
func (a *anchors) eachOf(f *clusterinfo.ClusterInfo, visit func(v *values, value string)) {
	if f == nil {
		return
	}

	for kind, all := range map[clusterinfo.PropertyKind]map[string]string{clusterinfo.Label: f.Labels, clusterinfo.Claim: f.Claims} {
		for name, value := range all {
			if known := a.byKey[clusterinfo.Property{Kind: kind, Name: name}]; known != nil {
				visit(known, value)
			}
		}
	}
}

func (v *values) add(value string, slot uint) { v.slots[value] = append(v.slots[value], uint32(slot)) }

func (v *values) remove(value string, slot uint) {
	slots := v.slots[value]

	at := slices.Index(slots, uint32(slot))
	if at < 0 {
		return
	}

	last := len(slots) - 1
	slots[at] = slots[last]
	v.slots[value] = slots[:last]

	if last == 0 {
		delete(v.slots, value)
	}
}

// canMatch are the clusters that have one of the values of the anchor that leaves the fewest; false when any cluster may match.
func (a *anchors) canMatch(s *selector.Selector, slotOf func(name string) (uint, bool)) (slots []uint32, narrow bool) {
	asked, _ := s.RequiredValues()
	fewest := -1

	var best selector.RequiredValue

	for _, one := range asked {
		if one.Key.Kind == clusterinfo.Name {
			if slot, exists := slotOf(one.Key.Name); exists {
				slots = append(slots, uint32(slot))
			}

			return slots, true
		}

		if count := a.byKey[one.Key].count(one.Values); fewest < 0 || count < fewest {
			fewest, best = count, one
		}
	}

	for _, value := range best.Values {
		slots = append(slots, a.byKey[best.Key].slots[value]...)
	}

	return slots, fewest >= 0
}

func (v *values) count(of []string) int {
	count := 0
	for _, value := range of {
		count += len(v.slots[value])
	}

	return count
}
