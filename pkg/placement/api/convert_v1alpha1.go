// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// convertV1alpha1 converts a placement.open-cluster-management.io/v1alpha1 Placement to a Request (docs/spec/placement-v1alpha1.md P1). It
// validates the Placement completely, whether or not there is a cluster (docs/spec/differences.md A6), and collects all errors in Errors;
// beyond the limits it checks no more (docs/spec/differences.md C2a).
func convertV1alpha1(compiler *selector.Compiler, placement *placementv1alpha1.Placement) *scheduling.Request {
	c := conversion{compiler: compiler, request: &scheduling.Request{
		Key:          inventory.NewPlacementKey(inventory.V1alpha1, placement.Namespace, placement.Name),
		ClusterSets:  slices.Clone(placement.Spec.ClusterSets),
		Wanted:       placement.Spec.NumberOfClusters,
		Tolerations:  availabilityTolerations(),
		Prioritizers: scheduling.DefaultPrioritizers(),
		Availability: true,
		NoneIsEnough: true,
	}}
	spec := field.NewPath("spec")

	c.name(placement.Name)
	c.wanted(spec.Child("numberOfClusters"), placement.Spec.NumberOfClusters)
	if tooMany := exceededV1alpha1(&placement.Spec); len(tooMany) > 0 {
		c.addErrors(tooMany...)
		return c.request
	}
	c.namedPredicates(spec.Child("predicates"), placement.Spec.Predicates)
	c.antiAffinity(spec.Child("antiAffinity"), placement.Spec.AntiAffinity)
	return c.request
}

// availabilityTolerations tolerate the two taints that follow the availability of a cluster. Each decision of this API has the availability
// of its cluster, which could never be false if an unavailable cluster were removed.
func availabilityTolerations() []clusterv1beta1.Toleration {
	return []clusterv1beta1.Toleration{
		{Key: clusterv1.ManagedClusterTaintUnavailable, Operator: clusterv1beta1.TolerationOpExists},
		{Key: clusterv1.ManagedClusterTaintUnreachable, Operator: clusterv1beta1.TolerationOpExists},
	}
}

func (c *conversion) namedPredicates(path *field.Path, predicates []placementv1alpha1.ClusterPredicate) {
	for i, predicate := range predicates {
		at := path.Index(i)
		c.predicate(selector.Paths{
			Name:        at.Child("clusterName"),
			Labels:      at.Child("labelSelector"),
			ClaimValues: at.Child("claimSelector", "matchClaims"),
			Claims:      at.Child("claimSelector", "matchExpressions"),
		}, selector.Spec{
			Name:        predicate.ClusterName,
			Labels:      predicate.LabelSelector,
			ClaimValues: predicate.ClaimSelector.MatchClaims,
			Claims:      predicate.ClaimSelector.MatchExpressions,
		})
	}
}

// antiAffinity converts the anti-affinity, which needs both fields or neither.
func (c *conversion) antiAffinity(path *field.Path, apart placementv1alpha1.AntiAffinity) {
	if apart == (placementv1alpha1.AntiAffinity{}) {
		return
	}
	key := c.topologyKey(path, apart.TopologyKey, string(apart.TopologyKeyType))
	c.request.AntiAffinity = &key
}
