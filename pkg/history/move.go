// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"time"
)

// Move is one change of the clusters of one decision. Its JSON names are stable. A Move does not change once a Ring has it.
type Move struct {
	// Time is when the hub has seen the first write of the change.
	Time      time.Time `json:"time"`
	Namespace string    `json:"namespace"`
	// NamespaceUID is empty if the hub does not know it.
	NamespaceUID string `json:"namespaceUID,omitempty"`
	Group        string `json:"group,omitempty"`
	Kind         string `json:"kind"`
	Name         string `json:"name"`
	UID          string `json:"uid"`
	// ResourceVersion is the latest of the written objects. It is the same in every process of the hub.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Gained and Lost are sorted.
	Gained []string `json:"gained,omitempty"`
	Lost   []string `json:"lost,omitempty"`
	// Reasons are those of the evaluation, for the first clusters of Lost and of Gained; none if this process has not evaluated.
	Reasons []Reason `json:"reasons,omitempty"`
	// Causes are the changes that the decision depends on, in the order in which they arrived. HiddenCauses counts those that are left out for a
	// reader who may not read their objects.
	Causes       []Cause `json:"causes,omitempty"`
	HiddenCauses int     `json:"hiddenCauses,omitempty"`
	// Derived reports that the process has watched the change as a standby and has not evaluated it.
	Derived bool `json:"derived,omitempty"`
}

// Reason says why a cluster was gained or lost, by the words of explain.
type Reason struct {
	Cluster string `json:"cluster"`
	Text    string `json:"text"`
}

// Action is what happened to a field or to an object.
type Action string

// The actions.
const (
	Added   Action = "added"
	Removed Action = "removed"
	Changed Action = "changed"
	Created Action = "created"
	Deleted Action = "deleted"
)

// Cause is the change of one field of an object, or its creation or deletion.
type Cause struct {
	Time      time.Time `json:"time"`
	Group     string    `json:"group,omitempty"`
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	UID       string    `json:"uid,omitempty"`
	Action    Action    `json:"action"`
	// Field is a path such as metadata.labels[region] or spec.taints[maintenance:NoSelect]; empty for Created and Deleted. What is its name for
	// people, such as "label region".
	Field string `json:"field,omitempty"`
	What  string `json:"what,omitempty"`
	// Old and New are the values, cut to a bounded length; empty where there was or is none.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Manager is the field manager that wrote the value, and Operation how; empty if it is not known.
	Manager   string `json:"manager,omitempty"`
	Operation string `json:"operation,omitempty"`
}

// Object names an object with decisions.
type Object struct{ Group, Kind, Namespace, Name string }

// Object returns the object that the Move is about.
func (m *Move) Object() Object {
	return Object{Group: m.Group, Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}
}

// Names reports whether the Move gained or lost one of the clusters.
func (m *Move) Names(clusters []string) bool {
	return slices.ContainsFunc(clusters, func(cluster string) bool {
		_, gained := slices.BinarySearch(m.Gained, cluster)
		_, lost := slices.BinarySearch(m.Lost, cluster)
		return gained || lost
	})
}

// The sizes of values in bytes, on a machine with 64 bits.
const (
	stringSize = 16
	reasonSize = 2 * stringSize
	causeSize  = 24 + 11*stringSize
	moveSize   = 24 + 7*stringSize + 4*24 + 16
	// boxed is what the allocator adds to a value of its own at most.
	boxed = 16
)

// Size returns about how many bytes the Move takes, with every text in it, as if no other Move shared one.
func (m *Move) Size() int {
	size := moveSize + boxed + texts(m.Namespace, m.NamespaceUID, m.Group, m.Kind, m.Name, m.UID, m.ResourceVersion)
	size += stringSize*(len(m.Gained)+len(m.Lost)) + texts(m.Gained...) + texts(m.Lost...)
	for i := range m.Reasons {
		size += reasonSize + texts(m.Reasons[i].Cluster, m.Reasons[i].Text)
	}
	for i := range m.Causes {
		size += m.Causes[i].Size()
	}
	return size + 4*boxed
}

// Size returns about how many bytes the Cause takes.
func (c *Cause) Size() int {
	return causeSize + texts(c.Group, c.Kind, c.Namespace, c.Name, c.UID, string(c.Action), c.Field, c.What, c.Old, c.New, c.Manager, c.Operation)
}

// texts returns how many bytes the contents of strings take; the allocator rounds each up.
func texts(texts ...string) int {
	size := 0
	for _, text := range texts {
		if text != "" {
			size += (len(text) + 15) &^ 15
		}
	}
	return size
}
