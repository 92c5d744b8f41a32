package clusterinfo

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/unreadable"
)

// ClusterInfo is what the hub knows of one ManagedCluster. It must not be changed once made.
type ClusterInfo struct {
	// Name is the name of the ManagedCluster.
	Name string
	// Labels are its metadata.labels.
	Labels map[string]string
	// Claims are its status.clusterClaims; of two claims of one name the last counts.
	Claims map[string]string
	// Taints are its spec.taints in their order, and after them unreadable.Taint if there are Unreadable fields.
	Taints []clusterv1.Taint
	// Resources are the resources for which both status.allocatable and status.capacity are reported: the allocatable amount in the
	// resource's own unit (cores, bytes), within ±2^63.
	Resources map[string]float64
	// Scores are the AddOnPlacementScores of the cluster by object name.
	Scores map[string]ScoreSet
	// Profiles are the ClusterProfiles that stand for the cluster, by namespace and name.
	Profiles []Profile
	// Terminating says that the cluster has a deletion timestamp: it is never a candidate (docs/spec/differences.md C5).
	Terminating bool
	// Available says that the condition ManagedClusterConditionAvailable is True.
	Available bool
	// Unreadable are the fields of the ManagedCluster that could not be decoded.
	Unreadable unreadable.Fields

	source *source
}

// Profile names a ClusterProfile of the API group multicluster.x-k8s.io.
type Profile struct {
	Namespace, Name string
}

// ScoreSet is one AddOnPlacementScore object of a cluster.
type ScoreSet struct {
	// Names are the entries in their order.
	Names []string
	// Values are the scores by entry name, each in [-100, 100].
	Values map[string]int32
	// ValidUntil is the time after which the scores count as expired; zero means never.
	ValidUntil time.Time
	// Unreadable are the fields of the object that could not be decoded. If there are some, the scores are unknown: Names and Values are empty.
	Unreadable unreadable.Fields
}

// Expired reports whether the scores may no longer be used at now.
func (s ScoreSet) Expired(now time.Time) bool {
	return !s.ValidUntil.IsZero() && now.After(s.ValidUntil)
}

// source is the object the facts were taken from.
type source struct {
	cluster *clusterv1.ManagedCluster
}

// New makes the Facts of a cluster and its AddOnPlacementScores. It keeps a reference to the cluster, which must not change any more.
func New(cluster *clusterv1.ManagedCluster, scores map[string]ScoreSet) *ClusterInfo {
	return (&ClusterInfo{
		Claims: claimsOf(cluster), Resources: resourcesOf(cluster), Scores: scores,
	}).setFrom(cluster)
}

// Update makes the Facts of a later state of the same cluster, with the scores and profiles it had. What is equal is shared with the state
// before. It keeps a reference to the cluster, which must not change any more.
func (f *ClusterInfo) Update(cluster *clusterv1.ManagedCluster) *ClusterInfo {
	was, next := f.source.cluster, *f

	if !sameClaims(was, cluster) {
		next.Claims = claimsOf(cluster)
	}

	if !sameAmounts(was.Status.Allocatable, cluster.Status.Allocatable) || !sameAmounts(was.Status.Capacity, cluster.Status.Capacity) {
		next.Resources = resourcesOf(cluster)
	}

	return next.setFrom(cluster)
}

// setFrom sets what is taken as it stands in the cluster.
func (f *ClusterInfo) setFrom(cluster *clusterv1.ManagedCluster) *ClusterInfo {
	f.Name, f.Labels, f.Unreadable = cluster.Name, cluster.Labels, unreadable.Of(cluster)
	f.Taints = taintsOf(cluster, f.Unreadable)
	f.Terminating = !cluster.DeletionTimestamp.IsZero()
	f.Available = meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	f.source = &source{cluster: cluster}

	return f
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

// maxAmount is 2^63, at which resource.Quantity documents that it caps amounts. It does not cap what is written with an exponent.
const maxAmount = 1 << 63

// amountOf returns the amount of a quantity, within ±mostAmount: "1e400" is not infinite, and the distance of two amounts is finite.
func amountOf(quantity resource.Quantity) float64 {
	return max(-maxAmount, min(quantity.AsApproximateFloat64(), maxAmount))
}

// unknownTime stands for a time that could not be read.
var unknownTime = metav1.NewTime(time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC))

// HasUnreadableTime reports whether the time of a taint could not be read. A toleration of so many seconds after it does not end: to take the time as
// zero would end the toleration at once and take the cluster away.
func HasUnreadableTime(taint clusterv1.Taint) bool { return taint.TimeAdded.Equal(&unknownTime) }

// taintsOf adds a taint to a cluster with unreadable fields, and says of the taints that may lack their time that it is unknown.
func taintsOf(cluster *clusterv1.ManagedCluster, fields unreadable.Fields) []clusterv1.Taint {
	if len(fields) == 0 {
		return cluster.Spec.Taints
	}

	taints := slices.Clone(cluster.Spec.Taints)
	untimed := len(fields.Under("spec.taints")) > 0

	for i := range taints {
		if untimed && taints[i].TimeAdded.IsZero() {
			taints[i].TimeAdded = unknownTime
		}
	}

	return append(taints, clusterv1.Taint{Key: unreadable.Taint, Effect: clusterv1.TaintEffectNoSelectIfNew})
}

// NewScoreSet normalises one AddOnPlacementScore object.
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

// WithScores is a copy of the facts with other scores.
func (f *ClusterInfo) WithScores(scores map[string]ScoreSet) *ClusterInfo {
	changed := *f
	changed.Scores = scores

	return &changed
}

// WithProfiles is a copy of the facts with other ClusterProfiles.
func (f *ClusterInfo) WithProfiles(profiles []Profile) *ClusterInfo {
	changed := *f
	changed.Profiles = profiles

	return &changed
}

// HasUnreadable reports whether something of the cluster or of its scores could not be decoded, so that an expression over all of it may be wrong.
func (f *ClusterInfo) HasUnreadable() bool {
	if len(f.Unreadable) > 0 {
		return true
	}

	for _, set := range f.Scores {
		if len(set.Unreadable) > 0 {
			return true
		}
	}

	return false
}

// Value is what the cluster has for a key that stands for a text: a label, a claim, or the name. It is false when the cluster has no
// such label or claim, and for keys of other kinds.
func (f *ClusterInfo) Value(key Property) (string, bool) {
	var values map[string]string

	switch key.Kind {
	case Name:
		return f.Name, true
	case Label:
		values = f.Labels
	case Claim:
		values = f.Claims
	default:
	}

	value, found := values[key.Name]

	return value, found
}
