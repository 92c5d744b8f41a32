// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

// ClusterInfo is what the hub knows of one ManagedCluster. It is immutable and safe for concurrent use.
type ClusterInfo struct {
	// Name is the name of the ManagedCluster.
	Name string
	// Labels are its metadata.labels.
	Labels map[string]string
	// Claims are its status.clusterClaims; of two claims with the same name the last one counts.
	Claims map[string]string
	// Taints are its spec.taints in their order, followed by unreadable.Taint if Unreadable is not empty.
	Taints []clusterv1.Taint
	// Resources has the allocatable amounts of the resources that both status.allocatable and status.capacity report, in the unit of the
	// resource (cores, bytes), within ±2^63.
	Resources map[string]float64
	// Scores are the AddOnPlacementScores of the cluster by object name.
	Scores map[string]ScoreSet
	// Profiles are the ClusterProfiles that claim to represent the cluster, sorted by namespace and name.
	Profiles []ProfileClaim
	// Terminating reports whether the cluster has a deletion timestamp; it is never a candidate then (docs/spec/differences.md C5).
	Terminating bool
	// Available reports whether the condition ManagedClusterConditionAvailable is True.
	Available bool
	// Unreadable are the fields of the ManagedCluster that could not be decoded.
	Unreadable unreadable.Fields

	source *source
}

// Profile names a ClusterProfile of the API group multicluster.x-k8s.io.
type Profile struct {
	Namespace, Name string
}

// String returns "namespace/name".
func (p Profile) String() string { return p.Namespace + "/" + p.Name }

// ProfileClaim is the claim of a ClusterProfile to represent a cluster.
type ProfileClaim struct {
	Profile

	// Doubt is why the claim is not believed; empty if it is.
	Doubt string
}

// ScoreSet is one AddOnPlacementScore object of a cluster.
type ScoreSet struct {
	// Names are the names of the entries in their order.
	Names []string
	// Values are the scores by entry name, each in [-100, 100].
	Values map[string]int32
	// ValidUntil is the last time at which the scores are valid; zero means that they do not expire.
	ValidUntil time.Time
	// Unreadable are the fields of the object that could not be decoded. Names and Values are empty then, because the scores are unknown.
	Unreadable unreadable.Fields
}

// Expired reports whether the scores are no longer valid at now.
func (s ScoreSet) Expired(now time.Time) bool {
	return !s.ValidUntil.IsZero() && now.After(s.ValidUntil)
}

// source has the object that a ClusterInfo was made from.
type source struct {
	cluster *clusterv1.ManagedCluster
}

// New returns the ClusterInfo of a ManagedCluster and its AddOnPlacementScores. It keeps references to both, which must not change any
// more.
func New(cluster *clusterv1.ManagedCluster, scores map[string]ScoreSet) *ClusterInfo {
	return (&ClusterInfo{
		Claims: claimsOf(cluster), Resources: resourcesOf(cluster), Scores: scores,
	}).setFrom(cluster)
}

// Update returns the ClusterInfo of a later state of the same ManagedCluster, with the scores and profiles of f. It shares claims and
// resources with f if they are equal, and keeps a reference to the cluster, which must not change any more.
func (c *ClusterInfo) Update(cluster *clusterv1.ManagedCluster) *ClusterInfo {
	was, next := c.source.cluster, *c
	if !sameClaims(was, cluster) {
		next.Claims = claimsOf(cluster)
	}
	if !sameAmounts(was.Status.Allocatable, cluster.Status.Allocatable) || !sameAmounts(was.Status.Capacity, cluster.Status.Capacity) {
		next.Resources = resourcesOf(cluster)
	}
	return next.setFrom(cluster)
}

// setFrom sets the fields that Update never shares with the state before, and returns f.
func (c *ClusterInfo) setFrom(cluster *clusterv1.ManagedCluster) *ClusterInfo {
	c.Name, c.Labels, c.Unreadable = cluster.Name, cluster.Labels, unreadable.Of(cluster)
	c.Taints = taintsOf(cluster, c.Unreadable)
	c.Terminating = !cluster.DeletionTimestamp.IsZero()
	c.Available = meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	c.source = &source{cluster: cluster}
	return c
}

// Condition returns a condition of the ManagedCluster, which must not be changed; nil if it has none of the type.
func (c *ClusterInfo) Condition(conditionType string) *metav1.Condition {
	return meta.FindStatusCondition(c.source.cluster.Status.Conditions, conditionType)
}

func claimsOf(cluster *clusterv1.ManagedCluster) map[string]string {
	claims := make(map[string]string, len(cluster.Status.ClusterClaims))
	for _, claim := range cluster.Status.ClusterClaims {
		claims[claim.Name] = claim.Value
	}
	return claims
}

func resourcesOf(cluster *clusterv1.ManagedCluster) map[string]float64 {
	resources := make(map[string]float64, len(cluster.Status.Allocatable))
	for name, allocatable := range cluster.Status.Allocatable {
		if _, reported := cluster.Status.Capacity[name]; reported {
			resources[string(name)] = amountOf(allocatable)
		}
	}
	return resources
}

// maxAmount is 2^63, to which resource.Quantity documents that it caps amounts. It does not cap amounts that are written with an exponent.
const maxAmount = 1 << 63

// amountOf returns the amount of a quantity, within ±maxAmount, so that "1e400" is not infinite and the difference of two amounts is
// finite.
func amountOf(quantity resource.Quantity) float64 {
	return max(-maxAmount, min(quantity.AsApproximateFloat64(), maxAmount))
}

// taintsOf returns the taints of a cluster. If fields could not be decoded, it adds unreadable.Taint, and sets UnknownTime where a time may
// be among these fields.
func taintsOf(cluster *clusterv1.ManagedCluster, fields unreadable.Fields) []clusterv1.Taint {
	if len(fields) == 0 {
		return cluster.Spec.Taints
	}
	taints := slices.Clone(cluster.Spec.Taints)
	untimed := len(fields.Under("spec.taints")) > 0
	for i := range taints {
		if untimed && taints[i].TimeAdded.IsZero() {
			taints[i].TimeAdded = UnknownTime()
		}
	}
	return append(taints, clusterv1.Taint{Key: unreadable.Taint, Effect: clusterv1.TaintEffectNoSelectIfNew})
}

// NewScoreSet normalises an AddOnPlacementScore. Of two entries with the same name the last value counts.
func NewScoreSet(object *clusterv1alpha1.AddOnPlacementScore) ScoreSet {
	if fields := unreadable.Of(object); len(fields) > 0 {
		return ScoreSet{Unreadable: fields}
	}
	set := ScoreSet{Values: make(map[string]int32, len(object.Status.Scores))}
	for _, item := range object.Status.Scores {
		if _, again := set.Values[item.Name]; !again {
			set.Names = append(set.Names, item.Name)
		}
		set.Values[item.Name] = item.Value
	}

	if object.Status.ValidUntil != nil {
		set.ValidUntil = object.Status.ValidUntil.Time
	}
	return set
}

// WithScores returns a copy with other scores, to which it keeps a reference.
func (c *ClusterInfo) WithScores(scores map[string]ScoreSet) *ClusterInfo {
	changed := *c
	changed.Scores = scores
	return &changed
}

// WithProfiles returns a copy with other ClusterProfiles, to which it keeps a reference.
func (c *ClusterInfo) WithProfiles(profiles []ProfileClaim) *ClusterInfo {
	changed := *c
	changed.Profiles = profiles
	return &changed
}

// HasUnreadable reports whether a field of the cluster or of its scores could not be decoded, so that a CEL expression may get a wrong
// result.
func (c *ClusterInfo) HasUnreadable() bool {
	if len(c.Unreadable) > 0 {
		return true
	}
	for _, set := range c.Scores {
		if len(set.Unreadable) > 0 {
			return true
		}
	}
	return false
}

// Value returns the value of a property that is a text: a label, a claim, or the name. It returns false if the cluster has no such label or
// claim, and for other kinds of properties.
func (c *ClusterInfo) Value(key Property) (string, bool) {
	var values map[string]string
	switch key.Kind {
	case Name:
		return c.Name, true
	case Label:
		values = c.Labels
	case Claim:
		values = c.Claims
	default:
	}

	value, found := values[key.Name]
	return value, found
}
