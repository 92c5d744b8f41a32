// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
)

// clusterEvent concerns the requests that have the Cluster, if it is not as they need it or its health has changed; and all refused requests,
// if it is new or gone, or a choice may see it otherwise. The latter includes own writes, which did not enqueue these requests.
func (l *ledger) clusterEvent(old, cluster *openmcpv1alpha1.Cluster, deleted bool) []types.NamespacedName {
	key := client.ObjectKeyFromObject(cluster)
	var news bool
	if deleted {
		l.deleteCluster(key, cluster.UID)
	} else {
		news = l.setCluster(cluster)
	}
	var requests []types.NamespacedName

	if news || old == nil || healthDiffers(old, cluster) || !old.DeletionTimestamp.Equal(cluster.DeletionTimestamp) {
		requests = l.grantsOn(key)
	}
	if old == nil || helps(old, cluster) {
		requests = append(requests, l.update(func(*clusterrequest.Catalog) {})...)
	}
	return requests
}

func healthDiffers(old, cluster *openmcpv1alpha1.Cluster) bool {
	return !equality.Semantic.DeepEqual(
		meta.FindStatusCondition(old.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy),
		meta.FindStatusCondition(cluster.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy))
}

// helps reports whether a change of a Cluster may help a refused request: of what a choice reads, only a request that comes helps nobody.
func helps(old, cluster *openmcpv1alpha1.Cluster) bool {
	leaves := slices.ContainsFunc(old.Finalizers, func(f string) bool { return !slices.Contains(cluster.Finalizers, f) })
	return leaves || !equality.Semantic.DeepEqual(old.Spec, cluster.Spec) || !old.DeletionTimestamp.Equal(cluster.DeletionTimestamp)
}

// grantEvent concerns the request of the Grant, which has its name, unless the event only shows an own write.
func (l *ledger) grantEvent(_, grant *openmcpv1alpha1.ClusterRequestGrant, deleted bool) []types.NamespacedName {
	var requests []types.NamespacedName
	key := client.ObjectKeyFromObject(grant)
	l.change(func(c *clusterrequest.Catalog) {
		known := c.Grant(key)
		switch {
		case deleted && known != nil && known.UID == grant.UID:
			c.DeleteGrant(key)
		case !deleted && (known == nil || consistency.Later(grant, known, true)):
			c.SetGrant(grant)
		default:
			return
		}
		requests = append(requests, key)
	})

	return requests
}

func (l *ledger) purposeEvent(_, purpose *openmcpv1alpha1.Purpose, deleted bool) []types.NamespacedName {
	return l.update(func(c *clusterrequest.Catalog) {
		if deleted {
			c.DeletePurpose(purpose.Name)
		} else {
			c.SetPurpose(purpose)
		}
	})
}

func (l *ledger) providerEvent(_, provider *openmcpv1alpha1.ClusterProvider, deleted bool) []types.NamespacedName {
	return l.update(func(c *clusterrequest.Catalog) {
		if deleted {
			c.DeleteClusterProvider(provider.Name)
		} else {
			c.SetClusterProvider(provider)
		}
	})
}

func (l *ledger) equivalenceEvent(_, equivalence *openmcpv1alpha1.TraitEquivalence, deleted bool) []types.NamespacedName {
	return l.update(func(c *clusterrequest.Catalog) {
		if deleted {
			c.DeleteTraitEquivalence(equivalence.Name)
		} else {
			c.SetTraitEquivalence(equivalence)
		}
	})
}
