// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// ExistingWorkOf reads a ManifestWork of the name that the works of an object have, as the API server returns it. A condition that the agent
// has reported about an older generation counts as not reported.
func ExistingWorkOf(identity Identity, work *workv1.ManifestWork) (ExistingWork, error) {
	return existingWorkOf(identity.owner(), work)
}

// ExistingWorksOf reads ManifestWorks as ExistingWorkOf does, in their order.
func ExistingWorksOf(identity Identity, works []*workv1.ManifestWork) ([]ExistingWork, error) {
	existing, of := make([]ExistingWork, 0, len(works)), identity.owner()
	for _, work := range works {
		one, err := existingWorkOf(of, work)
		if err != nil {
			return nil, fmt.Errorf("ManifestWork %s/%s: %w", work.Namespace, work.Name, err)
		}
		existing = append(existing, one)
	}
	return existing, nil
}

func existingWorkOf(of owner, work *workv1.ManifestWork) (ExistingWork, error) {
	existing := ExistingWork{
		Cluster: work.Namespace, Ready: ReadyOf(work), Selected: feedback(work, SelectedClusters),
		Orphan: orphans(work), OrphanSeen: OrphanSeen(work),
		Applied: reported(work, workv1.WorkApplied), Available: reported(work, workv1.WorkAvailable), Problem: ProblemOf(work),
		Foreign: !of.owns(work), Deleting: !work.DeletionTimestamp.IsZero(), Restored: restored(work),
	}
	if existing.Deleting {
		existing.DeletedAt = *work.DeletionTimestamp
		existing.KeptBy = enumerate(slices.Sorted(slices.Values(work.Finalizers)), maxKeptFinalizers)
	}
	var err error
	if existing.Hash, err = WorkHash(work); err != nil {
		return ExistingWork{}, err
	}
	existing.Replicas, err = PlannedReplicas(work)
	return existing, err
}

// orphans reports whether the copies of a work stay when it is deleted.
func orphans(work *workv1.ManifestWork) bool {
	return work.Spec.DeleteOption != nil && work.Spec.DeleteOption.PropagationPolicy == workv1.DeletePropagationPolicyTypeOrphan
}

// Reported returns a condition of a work; nil if the agent has not reported it for the present generation.
func Reported(work *workv1.ManifestWork, condition string) *metav1.Condition {
	found := meta.FindStatusCondition(work.Status.Conditions, condition)
	if found == nil || found.ObservedGeneration != 0 && found.ObservedGeneration < work.Generation {
		return nil
	}
	return found
}

// reported returns the status of a condition of a work; empty if the agent has not reported it for the present generation.
func reported(work *workv1.ManifestWork, condition string) metav1.ConditionStatus {
	if found := Reported(work, condition); found != nil {
		return found.Status
	}
	return ""
}

// ProblemOf returns what the agent has reported last about the manifests of a work that it could not apply, each with its resource; empty if
// there are none.
func ProblemOf(work *workv1.ManifestWork) string {
	var problems []string
	for _, manifest := range work.Status.ResourceStatus.Manifests {
		failed := meta.FindStatusCondition(manifest.Conditions, workv1.ManifestApplied)
		if failed == nil || failed.Status != metav1.ConditionFalse {
			continue
		}
		name := manifest.ResourceMeta.Name
		if manifest.ResourceMeta.Namespace != "" {
			name = manifest.ResourceMeta.Namespace + "/" + name
		}
		problems = append(problems, fmt.Sprintf("%s %s: %s", manifest.ResourceMeta.Resource, name, failed.Message))
	}

	if applied := meta.FindStatusCondition(work.Status.Conditions, workv1.WorkApplied); len(problems) == 0 && applied != nil &&
		applied.Status == metav1.ConditionFalse {
		return applied.Message
	}
	return strings.Join(problems, "; ")
}

// DecisionsOf returns the decisions of a Placement on which objects may rely (docs/spec/federated-selector.md 3.1.4). placement is nil if it
// does not exist; pages are the clusters of each of its PlacementDecisions.
func DecisionsOf(placement *metav1.ObjectMeta, pages [][]string) Decisions {
	switch {
	case placement == nil:
		return Decisions{Problem: notFound}
	case !placement.DeletionTimestamp.IsZero():
		return Decisions{Problem: "is being deleted"}
	case len(pages) == 0:
		return Decisions{Problem: "has no decision yet"}
	default:
		clusters := slices.Concat(pages...)
		slices.Sort(clusters)
		return Decisions{Clusters: slices.Compact(clusters)}
	}
}

// notFound is the Problem of a Placement that does not exist.
const notFound = "does not exist"

// MissingPlacement returns the Decisions of a Placement that does not exist, in a namespace that has Placements with the given names.
func MissingPlacement(name string, names []string) Decisions {
	return Decisions{Problem: notFound, Similar: Similar(name, slices.Sorted(slices.Values(names)))}
}

// BudgetOf returns the removal budget of an object by its annotations, on a hub with limits. An invalid annotation is a mistake: the percentage
// of the hub applies then, or nothing in scope may be withdrawn if it has no limit.
func BudgetOf(annotations map[string]string, hub Limits) (budget Budget, mistake string) {
	budget = Budget{Percent: hub.Percent, Release: annotations[removalbudget.ReleaseAnnotation], Hub: hub}
	switch asked, annotated, mistake := removalbudget.AnnotatedPercent(annotations); {
	case mistake != "" && hub.Percent >= removalbudget.NoLimit:
		budget.Percent = 0
		return budget, mistake
	case annotated && mistake == "":
		budget.Percent = asked
		return budget, ""
	default:
		return budget, mistake
	}
}
