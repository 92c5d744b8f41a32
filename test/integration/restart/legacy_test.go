// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// legacy is what the upstream controller has left of a placement (docs/spec/upstream-placement.md 1.9 to 1.11).
type legacy struct {
	spec  clusterv1beta1.PlacementSpec
	pages []legacyPage
	// state is how the placement ended.
	state legacyState
	// wrong is the message of a misconfiguration; empty for none.
	wrong string
	// disabled says that the placement is annotated to be left alone.
	disabled bool
}

// legacyPage is one PlacementDecision, in the order of the numbers.
type legacyPage struct {
	group int32
	name  string
	// clusters are the decisions by short name. Nil leaves the status as it was made, without a list: upstream does not write one into a
	// page that has been empty from the start.
	clusters []string
	// lost says that there is no such page, although the status of the placement lists it.
	lost bool
	// edits change the page before it is made.
	edits []func(*clusterv1beta1.PlacementDecision)
}

// legacyState is the condition PlacementSatisfied.
type legacyState struct {
	status          metav1.ConditionStatus
	reason, message string
}

// The states that upstream leaves most.
var (
	legacyScheduled = legacyState{metav1.ConditionTrue, "AllDecisionsScheduled", "All cluster decisions scheduled"}
	legacyUnmatched = legacyState{metav1.ConditionFalse, "NoManagedClusterMatched", "No ManagedCluster matches any of the cluster predicate"}
)

// onePage is a page of the first group.
func onePage(clusters []string) []legacyPage { return []legacyPage{{clusters: clusters}} }

// hundreds cuts clusters into the pages of a group.
func hundreds(group int32, name string, clusters []string) []legacyPage {
	pages := []legacyPage{}
	for ; len(clusters) > suite.PageSize; clusters = clusters[suite.PageSize:] {
		pages = append(pages, legacyPage{group: group, name: name, clusters: clusters[:suite.PageSize]})
	}
	return append(pages, legacyPage{group: group, name: name, clusters: clusters})
}

// standing are the clusters in the pages that there are.
func (l legacy) standing() []string {
	clusters := []string{}
	for _, page := range l.pages {
		clusters = append(clusters, page.clusters...)
	}
	return clusters
}

// leave makes a placement and all that upstream has left of it.
func leave(ctx context.Context, f *suite.Fixture, name string, l legacy) error {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}, Spec: l.spec}
	if l.disabled {
		placement.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	}
	if err := suite.Client.Create(ctx, placement); err != nil {
		return fmt.Errorf("creating Placement %s: %w", name, err)
	}
	status := clusterv1beta1.PlacementStatus{Conditions: legacyConditions(l)}

	for i, page := range l.pages {
		made := fmt.Sprintf("%s-decision-%d", name, i+1)
		if !page.lost {
			if err := leavePage(ctx, f, placement, made, page); err != nil {
				return err
			}
		}
		status.NumberOfSelectedClusters += int32(len(page.clusters))

		last := len(status.DecisionGroups) - 1
		if last < 0 || status.DecisionGroups[last].DecisionGroupIndex != page.group {
			status.DecisionGroups = append(status.DecisionGroups, clusterv1beta1.DecisionGroupStatus{
				DecisionGroupIndex: page.group, DecisionGroupName: page.name,
			})
			last++
		}
		status.DecisionGroups[last].Decisions = append(status.DecisionGroups[last].Decisions, made)
		status.DecisionGroups[last].ClustersCount += int32(len(page.clusters))
	}

	placement.Status = status
	if err := suite.Client.Status().Update(ctx, placement); err != nil {
		return fmt.Errorf("writing the status of Placement %s: %w", name, err)
	}
	return nil
}

func leavePage(ctx context.Context, f *suite.Fixture, placement *clusterv1beta1.Placement, name string, page legacyPage) error {
	made := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.Namespace, Name: name,
		Labels: map[string]string{
			clusterv1beta1.PlacementLabel:          placement.Name,
			clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(int(page.group)),
			clusterv1beta1.DecisionGroupNameLabel:  page.name,
		},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: placement.Name, UID: placement.UID,
			Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
		}},
	}}

	for _, edit := range page.edits {
		edit(made)
	}
	if err := suite.Client.Create(ctx, made); err != nil {
		return fmt.Errorf("creating PlacementDecision %s: %w", made.Name, err)
	}
	if page.clusters == nil {
		return nil
	}

	made.Status.Decisions = []clusterv1beta1.ClusterDecision{}
	for _, short := range page.clusters {
		made.Status.Decisions = append(made.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: f.Name(short)})
	}
	if err := suite.Client.Status().Update(ctx, made); err != nil {
		return fmt.Errorf("writing the status of PlacementDecision %s: %w", made.Name, err)
	}
	return nil
}

// legacyTime is when the conditions changed last, in seconds since 1970.
const legacyTime = 1_700_000_000

// legacyConditions are both conditions, without an observedGeneration; none without a state.
func legacyConditions(l legacy) []metav1.Condition {
	if l.state == (legacyState{}) {
		return []metav1.Condition{}
	}
	long := metav1.NewTime(time.Unix(legacyTime, 0))
	configured := metav1.Condition{
		Type: clusterv1beta1.PlacementConditionMisconfigured, Status: metav1.ConditionFalse, LastTransitionTime: long,
		Reason: "Succeedconfigured", Message: "Placement configurations check pass",
	}

	if l.wrong != "" {
		configured.Status, configured.Reason, configured.Message = metav1.ConditionTrue, "Misconfigured", l.wrong
	}
	return []metav1.Condition{configured, {
		Type: clusterv1beta1.PlacementConditionSatisfied, Status: l.state.status, LastTransitionTime: long,
		Reason: l.state.reason, Message: l.state.message,
	}}
}
