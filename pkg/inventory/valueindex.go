// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"

	"github.com/bits-and-blooms/bitset"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// clusters is an iterator over ids and ClusterInfos.
type clusters = func(yield func(uint, *clusterinfo.ClusterInfo) bool)

// propertyValue is a property and one of its required values, by which the views are indexed.
type propertyValue struct {
	key   clusterinfo.Property
	value string
}

// valueIndex has the clusters by value for each label and claim of which a view requires a value, so that a new view is built from the
// clusters that can match.
type valueIndex struct {
	byKey map[clusterinfo.Property]*clustersByValue
}

// clustersByValue has the ids of the clusters by their value of one property, in no order, and the number of views that require a value of
// it.
type clustersByValue struct {
	references int
	ids        map[string][]uint32
	// present are the clusters with any value, and long is the number of those whose value is longer than that of a label.
	present Members
	long    int
}

func newClustersByValue() *clustersByValue {
	return &clustersByValue{references: 1, ids: map[string][]uint32{}, present: bitset.New(0)}
}

func newValueIndex() *valueIndex {
	return &valueIndex{byKey: map[clusterinfo.Property]*clustersByValue{}}
}

// acquire adds a reference to the index of a property, and reports whether there is one; release removes the reference.
func (vi *valueIndex) acquire(key clusterinfo.Property) bool {
	indexed := vi.byKey[key]
	if indexed == nil {
		return false
	}
	indexed.references++
	return true
}

// add adds an empty index of a property, with a reference to it.
func (vi *valueIndex) add(key clusterinfo.Property) {
	vi.byKey[key] = newClustersByValue()
}

func (vi *valueIndex) release(key clusterinfo.Property) {
	if indexed := vi.byKey[key]; indexed != nil {
		indexed.references--
		if indexed.references == 0 {
			delete(vi.byKey, key)
		}
	}
}

// idsOf returns the ids of the clusters by their value of an indexed property.
func (vi *valueIndex) idsOf(key clusterinfo.Property) map[string][]uint32 { return vi.byKey[key].ids }

// build computes the index of every property anew, in one pass over the clusters.
func (vi *valueIndex) build(all clusters) {
	for key := range vi.byKey {
		vi.byKey[key] = newClustersByValue()
	}
	for id, info := range all {
		vi.eachOf(info, func(v *clustersByValue, value string) { v.add(value, id) })
	}
}

// update updates the index after a change of one cluster. A nil state means that the cluster does not exist.
func (vi *valueIndex) update(id uint, before, after *clusterinfo.ClusterInfo, changes []clusterinfo.Property) {
	if existenceChanged(before, after) {
		vi.eachOf(before, func(v *clustersByValue, value string) { v.remove(value, id) })
		vi.eachOf(after, func(v *clustersByValue, value string) { v.add(value, id) })
		return
	}

	for _, key := range changes {
		indexed := vi.byKey[key]
		if indexed == nil {
			continue
		}
		if value, had := before.Value(key); had {
			indexed.remove(value, id)
		}
		if value, has := after.Value(key); has {
			indexed.add(value, id)
		}
	}
}

// eachOf visits the indexed properties that a cluster has.
func (vi *valueIndex) eachOf(info *clusterinfo.ClusterInfo, visit func(indexed *clustersByValue, value string)) {
	if info == nil {
		return
	}
	if len(vi.byKey) < len(info.Labels)+len(info.Claims) {
		for key, indexed := range vi.byKey {
			if value, has := info.Value(key); has {
				visit(indexed, value)
			}
		}
		return
	}

	visitAll := func(kind clusterinfo.PropertyKind, all map[string]string) {
		for name, value := range all {
			if indexed := vi.byKey[clusterinfo.Property{Kind: kind, Name: name}]; indexed != nil {
				visit(indexed, value)
			}
		}
	}
	visitAll(clusterinfo.Label, info.Labels)
	visitAll(clusterinfo.Claim, info.Claims)
}

func (v *clustersByValue) add(value string, id uint) {
	v.ids[value] = append(v.ids[value], uint32(id))
	v.present.Set(id)
	if len(value) > validation.LabelValueMaxLength {
		v.long++
	}
}

func (v *clustersByValue) remove(value string, id uint) {
	ids := v.ids[value]

	at := slices.Index(ids, uint32(id))
	if at < 0 {
		return
	}
	v.present.Clear(id)
	if len(value) > validation.LabelValueMaxLength {
		v.long--
	}
	last := len(ids) - 1
	ids[at] = ids[last]
	v.ids[value] = ids[:last]
	if last == 0 {
		delete(v.ids, value)
	}
}

// candidates returns the clusters that can match, by the indexed property with the fewest clusters of those that the selector requires;
// false if it requires none, so that any cluster may match. The caller owns the list.
func (vi *valueIndex) candidates(s *selector.Selector, idOf func(name string) (uint, bool)) (ids []uint32, limited bool) {
	required, _ := s.RequiredValues()
	fewest := -1
	var narrowest selector.RequiredValue
	for _, values := range required {
		if values.Key.Kind == clusterinfo.Name {
			if id, exists := idOf(values.Key.Name); exists {
				ids = append(ids, uint32(id))
			}
			return ids, true
		}
		indexed := vi.byKey[values.Key]
		if indexed == nil {
			continue
		}

		if count := indexed.count(values.Values); fewest < 0 || count < fewest {
			fewest, narrowest = count, values
		}
	}

	for _, value := range narrowest.Values {
		ids = append(ids, vi.byKey[narrowest.Key].ids[value]...)
	}
	return ids, fewest >= 0
}

func (v *clustersByValue) count(of []string) int {
	count := 0
	for _, value := range of {
		count += len(v.ids[value])
	}
	return count
}

// existenceChanged reports whether a cluster was added or deleted, or began to terminate. ChangedProperties then returns the single
// property Name, whatever else has changed.
func existenceChanged(before, after *clusterinfo.ClusterInfo) bool {
	return before == nil || after == nil || before.Terminating != after.Terminating
}

// maxListed is how many clusters others leaves out at most for a label: the caller holds a mutex, and what it does not get is evaluated later.
const maxListed = 10_000

// others returns those of the candidates that have each of some labels with a value that is none of the listed ones; nil if a value is too long, or
// too many clusters have a listed one.
func (vi *valueIndex) others(candidates Members, labels []selector.RequiredValue) Members {
	others := candidates.Clone()
	for _, label := range labels {
		indexed := vi.byKey[label.Key]
		if indexed.long > 0 || indexed.count(label.Values) > maxListed {
			return nil
		}
		others.InPlaceIntersection(indexed.present)
		for _, value := range label.Values {
			for _, id := range indexed.ids[value] {
				others.Clear(uint(id))
			}
		}
	}
	return others
}
