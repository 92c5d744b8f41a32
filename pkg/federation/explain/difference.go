// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Difference is what would change for one object: the clusters that would get it, and those from which it would be withdrawn. Its JSON names
// are stable: fields may be added, and none is renamed or removed.
type Difference struct {
	// Key is the key of the object.
	Key inventory.Key `json:"-"`
	// Object is "Deployment.apps/team-a/web".
	Object    string `json:"object"`
	Kind      string `json:"kind"`
	Group     string `json:"group,omitempty"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// New reports that the hub does not have the object yet.
	New bool `json:"new,omitempty"`
	// State, Reason and Message are those of a Report after the change.
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Gained are clusters that would get the object, Lost those from which it would be withdrawn, and Held those from which it would be
	// withdrawn if RemovalHeld did not keep it there; all by name.
	Gained []Change `json:"gained"`
	Lost   []Change `json:"lost"`
	Held   []Change `json:"held,omitempty"`
	// Updated counts the clusters whose copy would change, and Kept those that keep the object, with these.
	Updated int `json:"updated"`
	Kept    int `json:"kept"`
	// RemovalHeld says why the object would not be withdrawn from Held, and what to do; absent while withdrawals are allowed.
	RemovalHeld string `json:"removalHeld,omitempty"`
	// Notes are warnings.
	Notes []string `json:"notes,omitempty"`
}

// Change is a cluster that would get or lose an object.
type Change struct {
	Cluster string `json:"cluster"`
	// Reason is the exact clause that decides.
	Reason string `json:"reason"`
	// Replicas is the number of replicas that the cluster would get, or has; absent for other kinds.
	Replicas *int32 `json:"replicas,omitempty"`
	// Anyway says that the hub is about to do the same without the change.
	Anyway bool `json:"anyway,omitempty"`
}

// Differs reports whether any cluster would get, lose or change the object, or would lose it if it were not held, or a new object would be held.
func (d Difference) Differs() bool {
	return len(d.Gained)+len(d.Lost)+len(d.Held)+d.Updated > 0 || d.New && d.State == string(federation.Held)
}

// Due reports whether the change itself makes a difference.
func (d Difference) Due() bool {
	return len(d.due(d.Gained))+len(d.due(d.Lost))+len(d.due(d.Held))+d.Updated > 0
}

// replicas returns the number of replicas in clusters that would lose the object because of the change.
func (d Difference) replicas() int32 {
	var sum int32
	for _, loss := range d.due(d.Lost) {
		sum += ptr.Deref(loss.Replicas, 0)
	}
	return sum
}

// due returns the changes that would not come without the change.
func (Difference) due(changes []Change) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(change Change) bool { return change.Anyway })
}

// Differences returns the Differences that the evaluations after a change make; before are those without it. The existing works of both are
// the base. The objects that lose most come first.
func Differences(before, after []Evaluation) []Difference {
	known := make(map[inventory.Key]*Evaluation, len(before))
	for i := range before {
		known[before[i].Key()] = &before[i]
	}
	differences := []Difference{}

	for _, evaluation := range after {
		difference := compare(known[evaluation.Key()], evaluation)
		if difference.Differs() || difference.RemovalHeld != "" || difference.heldNow(known[evaluation.Key()]) ||
			difference.New && len(difference.Notes) > 0 {
			differences = append(differences, difference)
		}
	}

	slices.SortStableFunc(differences, func(a, b Difference) int {
		return cmp.Or(
			cmp.Compare(len(b.due(b.Lost)), len(a.due(a.Lost))), cmp.Compare(b.replicas(), a.replicas()),
			cmp.Compare(len(b.due(b.Gained)), len(a.due(a.Gained))),
		)
	})
	return differences
}

// heldNow reports whether the change makes an object that is delivered one that is not, or the other way round.
func (d Difference) heldNow(before *Evaluation) bool {
	return before != nil && string(before.State) != d.State
}

func compare(before *Evaluation, after Evaluation) Difference {
	identity := after.Object.Identity()
	d := Difference{
		Key: after.Key(), Object: identity.String(), Kind: identity.Kind.Kind, Group: identity.Kind.Group, Namespace: identity.Namespace,
		Name: identity.Name, New: before == nil, State: string(after.State), Reason: after.Reason, Message: after.Message,
		Gained: []Change{}, Lost: []Change{}, RemovalHeld: after.Withdrawal.Held,
	}
	if after.Unwritten != "" {
		d.Message = after.Unwritten
	}
	d.Kept = len(after.Own())

	if after.State != federation.Delivering && len(after.Plan.Lose) == 0 {
		return d
	}
	d = d.withClusters(before, after)
	if note := after.scopeHoldNote(); note != "" {
		d.Notes = append(d.Notes, note)
	}
	if after.BudgetUnknown && len(d.Lost) > 0 {
		d.Notes = append(d.Notes, unknownBudget)
	}
	if _, unplaced := after.Unplaced(); unplaced != "" {
		d.Notes = append(d.Notes, unplaced)
	}
	if d.New || before.Target.String() != after.Target.String() {
		for _, unknown := range after.UnknownLabels() {
			d.Notes = append(d.Notes, "warning: "+unknown)
		}
	}
	return d
}

// withClusters adds what becomes of the works in the clusters that the plan names.
func (d Difference) withClusters(before *Evaluation, after Evaluation) Difference {
	works := map[string]federation.ExistingWork{}
	for _, work := range after.Own() {
		works[work.Cluster] = work
	}
	reasons := map[string]string{}
	for _, cluster := range NewReport(after, true).Clusters {
		reasons[cluster.Name] = cluster.Reason
	}

	for _, cluster := range slices.Concat(after.Plan.Gain, after.Plan.Reduce) {
		if _, has := works[cluster]; has {
			d.Updated++
			continue
		}
		change := Change{Cluster: cluster, Reason: reasons[cluster], Anyway: before != nil && slices.Contains(before.Plan.Gain, cluster)}
		if after.Object.Kind.HasReplicas() {
			change.Replicas = ptr.To(after.Replicas[cluster])
		}
		d.Gained = append(d.Gained, change)
	}

	for _, cluster := range after.Plan.Lose {
		change := Change{
			Cluster: cluster, Reason: cmp.Or(reasons[cluster], "out of scope"), Anyway: before != nil && slices.Contains(before.Plan.Lose, cluster),
		}
		if after.Object.Kind.HasReplicas() {
			change.Replicas = ptr.To(works[cluster].Replicas)
		}
		if slices.Contains(after.Withdrawal.Kept, cluster) {
			d.Held = append(d.Held, change)
			continue
		}

		d.Kept--
		d.Lost = append(d.Lost, change)
	}

	slices.SortFunc(d.Gained, func(a, b Change) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return d
}
