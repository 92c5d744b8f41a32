// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WantedWork is a ManifestWork that an object should have.
type WantedWork struct {
	Cluster string
	// Hash is the hash of what the hub writes, as in HashAnnotation.
	Hash string
	// Replicas is the number of replicas in the work; 0 for objects without replicas.
	Replicas int32
}

// ExistingWork is a ManifestWork of the name that the works of an object have.
type ExistingWork struct {
	Cluster string
	// Hash is WorkHash of the work as it is stored.
	Hash string
	// Replicas is the number of replicas in the work, and Ready how many of them the agent has reported as ready; 0 for objects without
	// replicas.
	Replicas, Ready int32
	// Selected is how many clusters the hub that got a Placement has selected, as its agent has reported; nil for other kinds and before that.
	Selected *int32
	// Applied and Available are the conditions of the work; empty until the agent has reported them.
	Applied, Available metav1.ConditionStatus
	// Problem is what the agent has reported last about a manifest that it could not apply; empty if there is none.
	Problem string
	// Orphan reports whether the copies stay when the work is deleted, and OrphanSeen whether the agent knows.
	Orphan, OrphanSeen bool
	// Foreign reports whether the work does not belong to the object.
	Foreign bool
	// Deleting reports whether the work has a deletion timestamp.
	Deleting bool
	// DeletedAt is the deletion timestamp of a work that is being deleted, and KeptBy names the finalizers that keep it; both are empty for other
	// works.
	DeletedAt metav1.Time
	KeptBy    string
	// Restored reports whether a tool that saves objects has created the work anew, and the hub has not written it since.
	Restored bool
}

// WorkPlan has the writes that make the wanted works of the existing ones, by the names of the clusters. An empty plan sends nothing
// (docs/architecture.md law 4).
type WorkPlan struct {
	// Gain are the clusters whose work is created or changed, in the order of the writes: first those that get the object, then those that get
	// replicas, then the others.
	Gain []string
	// Reduce are the clusters whose work is changed to fewer replicas, sorted, after all of Gain.
	Reduce []string
	// Lose are the clusters whose work is deleted, sorted. While a write of Gain or Reduce has failed, nothing of it is deleted
	// (docs/architecture.md law 5).
	Lose []string
	// Waiting are the clusters that want a work whose predecessor is still being deleted, sorted. Its end makes the next plan.
	Waiting []string
	// Conflicts are the clusters whose work of that name does not belong to the object, sorted. Nothing is written to them.
	Conflicts []string
}

// Empty reports whether the plan has no writes.
func (p *WorkPlan) Empty() bool { return len(p.Gain) == 0 && len(p.Reduce) == 0 && len(p.Lose) == 0 }

// gain is a write of WorkPlan.Gain; a lower rank comes first.
type gain struct {
	cluster string
	rank    int
}

const (
	rankCreate = iota
	rankMoreReplicas
	rankUpdate
)

// PlanWorks compares the wanted works of an object with the existing ones; each has at most one for a cluster. A foreign work of a cluster
// that wants none is left alone.
func PlanWorks(wanted []WantedWork, existing []ExistingWork) WorkPlan {
	existingOf := make(map[string]ExistingWork, len(existing))
	for _, work := range existing {
		existingOf[work.Cluster] = work
	}
	var (
		plan  WorkPlan
		gains []gain
	)
	isWanted := make(map[string]bool, len(wanted))

	for _, want := range wanted {
		isWanted[want.Cluster] = true
		switch have, exists := existingOf[want.Cluster]; {
		case !exists:
			gains = append(gains, gain{want.Cluster, rankCreate})
		case have.Foreign:
			plan.Conflicts = append(plan.Conflicts, want.Cluster)
		case have.Deleting:
			plan.Waiting = append(plan.Waiting, want.Cluster)
		case have.Hash != want.Hash:
			if want.Replicas < have.Replicas {
				plan.Reduce = append(plan.Reduce, want.Cluster)
			} else {
				gains = append(gains, gain{want.Cluster, rankOf(want.Replicas, have.Replicas)})
			}
		}
	}

	for _, have := range existing {
		if !isWanted[have.Cluster] && !have.Foreign && !have.Deleting {
			plan.Lose = append(plan.Lose, have.Cluster)
		}
	}
	slices.SortFunc(gains, func(a, b gain) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.cluster, b.cluster)) })
	for _, g := range gains {
		plan.Gain = append(plan.Gain, g.cluster)
	}

	slices.Sort(plan.Reduce)
	slices.Sort(plan.Lose)
	slices.Sort(plan.Waiting)
	slices.Sort(plan.Conflicts)
	return plan
}

func rankOf(wanted, existing int32) int {
	if wanted > existing {
		return rankMoreReplicas
	}
	return rankUpdate
}
