// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// Reasons of the condition ManagedClusterConditionAvailable beyond those of the provider.
const (
	// ReasonLeaseNotFound means that the provider has not created the Lease of the Cluster.
	ReasonLeaseNotFound = "LeaseNotFound"
	// ReasonLeaseExpired means that the provider has not renewed the Lease of the Cluster in time.
	ReasonLeaseExpired = "LeaseExpired"
)

const (
	// AgentLeaseName is the name of the Lease that the registration agent of Open Cluster Management renews in the namespace of its cluster.
	AgentLeaseName = "managed-cluster-lease"
	// defaultLeaseDuration is the duration of Leases that say nothing.
	defaultLeaseDuration = time.Minute
	// maxLeaseDuration is what a longer duration counts as, so that no provider lives for years by one renewal.
	maxLeaseDuration = time.Hour
	// agentLeaseFactor is how many durations the Lease of an agent may be old, as in Open Cluster Management.
	agentLeaseFactor = 5
	// recreationGrace is how long a Cluster that was created again keeps the availability of its ManagedCluster while its provider has reported
	// nothing. An agent of Open Cluster Management may be silent for as long.
	recreationGrace = agentLeaseFactor * defaultLeaseDuration
)

// Heartbeat is what the hub knows of a Lease. The zero Heartbeat is that of no Lease.
type Heartbeat struct {
	// Seen is when the hub saw the last renewal or, before the first one that it sees, the Lease.
	Seen time.Time
	// Renewed reports whether the hub has seen a renewal. Otherwise the Lease is from before its start, and may be old.
	Renewed bool
	// RenewTime is the last time of a renewal by the clock of the one who renews.
	RenewTime time.Time
	// Duration is how long the Lease is valid after a renewal. Zero means one minute, and more than an hour means an hour.
	Duration time.Duration
}

// expires returns when the Lease expires unless it is renewed.
func (h Heartbeat) expires() time.Time {
	return h.Seen.Add(min(cmp.Or(h.Duration, defaultLeaseDuration), maxLeaseDuration))
}

// LeaseKey returns the namespace and name of the Lease by which the provider of a Cluster proves that it lives. leaseNamespace is
// spec.leaseNamespace of the ClusterProvider; while it is empty the Lease is beside the Cluster.
func LeaseKey(cluster *openmcpv1alpha1.Cluster, leaseNamespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: cmp.Or(leaseNamespace, cluster.Namespace), Name: LeaseName(cluster.UID)}
}

// Expired reports whether the hub has seen no renewal in time.
func (h Heartbeat) Expired(now time.Time) bool { return !now.Before(h.expires()) }

// IsHeartbeat reports whether a Lease of this name may be that of a Cluster or of an agent.
func IsHeartbeat(name string) bool {
	return name == AgentLeaseName || strings.HasPrefix(name, leasePrefix)
}

// Available returns the condition ManagedClusterConditionAvailable of the ManagedCluster of a Cluster, without a transition time, and when it
// changes unless its Lease is renewed; zero for never. A condition that says that the Lease has expired stays until a renewal: a hub that
// starts cannot know when the last one was. A ManagedCluster that is available stays so while the provider of a Cluster that was created again
// has not reported yet.
func Available(
	cluster *openmcpv1alpha1.Cluster, lease types.NamespacedName, present []metav1.Condition, beat Heartbeat, now time.Time,
) (condition metav1.Condition, until time.Time) {
	condition = metav1.Condition{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown}
	provider := cluster.Spec.ClusterProviderRef.Name
	last := meta.FindStatusCondition(present, condition.Type)
	health := meta.FindStatusCondition(cluster.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy)
	awaited := cluster.CreationTimestamp.Add(recreationGrace)
	switch {
	case health == nil && last != nil && last.Status == metav1.ConditionTrue && now.Before(awaited):
		return *last, awaited
	case beat == Heartbeat{}:
		condition.Reason = ReasonLeaseNotFound
		condition.Message = fmt.Sprintf("ClusterProvider %s has no Lease %s: see whether it runs", provider, lease)
	case beat.Expired(now), !beat.Renewed && last != nil && last.Reason == ReasonLeaseExpired:
		condition.Reason = ReasonLeaseExpired
		condition.Message = fmt.Sprintf("ClusterProvider %s does not renew Lease %s: see whether it runs", provider, lease)
	case health == nil:
		condition.Reason = ReasonHealthUnknown
		condition.Message = fmt.Sprintf("ClusterProvider %s has not reported the health of Cluster %s", provider, keyOf(cluster))
		until = beat.expires()
	default:
		condition.Status, condition.Reason, condition.Message = health.Status, cmp.Or(health.Reason, ReasonHealthUnknown), health.Message
		until = beat.expires()
	}

	return condition, until
}

// AgentReports returns until when an agent counts that renews the Lease AgentLeaseName of a ManagedCluster: it reports the availability, and
// the hub does not. The time is zero, or not after now, if no agent counts.
func AgentReports(managed *clusterv1.ManagedCluster, beat Heartbeat) time.Time {
	if beat.RenewTime.IsZero() {
		return time.Time{}
	}
	duration := cmp.Or(time.Duration(managed.Spec.LeaseDurationSeconds)*time.Second, defaultLeaseDuration)
	return beat.RenewTime.Add(agentLeaseFactor * duration)
}
