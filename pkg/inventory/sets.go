// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"

	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// SetClusterSet adds or updates a set.
func (i *Inventory) SetClusterSet(set *clusterv1beta2.ManagedClusterSet) Affected {
	compiled := NewClusterSet(i.compiler, i.assumptions.clusterSet(set))
	i.mu.Lock()
	defer i.mu.Unlock()
	if compiled.members != nil {
		defer i.release(i.hold([]*selector.Selector{compiled.members}))
	}

	if before := i.sets.live[set.Name]; before != nil && before.same(compiled) {
		if before.isOf(set) {
			return Affected{}
		}
		i.sets.set(set.Name, compiled)
		return Affected{Cause: CauseClusterSet, Sets: []string{set.Name}}
	}
	i.changed(anyChange)
	i.replaceMembers(compiled.Name, compiled)
	i.sets.set(set.Name, compiled)
	return i.affectedBySet(set.Name)
}

// Members returns the number of clusters in a set, including terminating ones. It is false if the set has a mistake, because its members are
// unknown then, and if the inventory has another generation of the set.
func (i *Inventory) Members(of *clusterv1beta2.ManagedClusterSet) (count uint, known bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	set := i.sets.live[of.Name]
	if set == nil || set.Err != nil || !set.isOf(of) {
		return 0, false
	}
	if members := i.members[of.Name]; members != nil {
		count = members.matches.bits.Count()
	}
	return count, true
}

// replaceMembers replaces the view of the members of a set; the set is nil if it was deleted.
func (i *Inventory) replaceMembers(name string, set *ClusterSet) {
	before := i.members[name]
	delete(i.members, name)
	delete(i.selecting, name)
	if set != nil && set.members != nil {
		i.members[name] = i.views.acquire(set.members)
		if !set.exclusive {
			i.selecting[name] = i.members[name]
		}
	}

	if before != nil {
		i.views.release(before)
	}
}

func (s *ClusterSet) same(other *ClusterSet) bool {
	return s.exclusive == other.exclusive && errorText(s.Err) == errorText(other.Err) &&
		(s.selector == nil) == (other.selector == nil) && (s.selector == nil || s.selector.Identity() == other.selector.Identity())
}

// DeleteClusterSet removes a set; its bindings stay.
func (i *Inventory) DeleteClusterSet(name string) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.sets.live[name] == nil {
		return Affected{}
	}
	i.changed(anyChange)
	i.replaceMembers(name, nil)
	i.sets.remove(name)
	return i.affectedBySet(name)
}

// SetBinding adds a binding. The name of the binding is the name of the set.
func (i *Inventory) SetBinding(binding *clusterv1beta2.ManagedClusterSetBinding) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()
	bound := i.bindings.live[binding.Namespace]

	at, already := slices.BinarySearch(bound, binding.Name)
	if already {
		return Affected{}
	}
	i.changed(anyChange)
	i.bindings.set(binding.Namespace, slices.Insert(slices.Clone(bound), at, binding.Name)) // Snapshots share the old list.
	setAt(i.boundIn, binding.Name)[binding.Namespace] = struct{}{}
	return i.affectedByBinding(binding.Namespace, binding.Name)
}

// DeleteBinding removes a binding.
func (i *Inventory) DeleteBinding(namespace, name string) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()
	bound := i.bindings.live[namespace]

	at, there := slices.BinarySearch(bound, name)
	if !there {
		return Affected{}
	}
	i.changed(anyChange)
	if len(bound) == 1 {
		i.bindings.remove(namespace)
	} else {
		i.bindings.set(namespace, slices.Delete(slices.Clone(bound), at, at+1))
	}

	delete(i.boundIn[name], namespace)
	deleteEmpty(i.boundIn, name)
	return i.affectedByBinding(namespace, name)
}
