// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// DefaultDrainTimeout is the default of the time that a ManagedCluster waits for its decisions and works.
const DefaultDrainTimeout = 10 * time.Minute

const (
	// drainFraction, firstDrainRetry and lastDrainRetry say how often a ManagedCluster looks for what is left: after a fraction of the time that
	// it has waited.
	drainFraction   = 4
	firstDrainRetry = 500 * time.Millisecond
	lastDrainRetry  = 30 * time.Second
	// mostNamed is how many objects of a kind are named as left.
	mostNamed = 5
)

// Reasons of Events about a ManagedCluster that is withdrawn.
const (
	// ReasonDraining means that the ManagedCluster waits for what uses it.
	ReasonDraining = "Draining"
	// ReasonDrained means that the ManagedCluster was deleted when nothing used it any more.
	ReasonDrained = "Drained"
	// ReasonDrainTimedOut means that the ManagedCluster was deleted although something used it.
	ReasonDrainTimedOut = "DrainTimedOut"
)

// Remaining is what still uses a ManagedCluster that is withdrawn.
type Remaining struct {
	// Decisions are the PlacementDecisions that name it, as <namespace>/<name>.
	Decisions []string
	// Works are the names of the ManifestWorks in its namespace.
	Works []string
}

// None reports whether nothing is left.
func (r Remaining) None() bool { return len(r.Decisions)+len(r.Works) == 0 }

// String names what is left, the first of each kind.
func (r Remaining) String() string {
	var parts []string
	for _, kind := range []struct {
		name  string
		names []string
	}{{"PlacementDecisions", r.Decisions}, {"ManifestWorks", r.Works}} {
		if len(kind.names) == 0 {
			continue
		}
		named := slices.Sorted(slices.Values(kind.names))
		text := kind.name + " " + strings.Join(named[:min(len(named), mostNamed)], ", ")
		if more := len(named) - mostNamed; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, text)
	}

	return strings.Join(parts, "; ")
}

// Drain says how far a ManagedCluster is that is withdrawn.
type Drain struct {
	// Done reports whether the ManagedCluster may be deleted, and TimedOut whether that is so although something is left.
	Done, TimedOut bool
	// Again is after which time to look again; zero if Done.
	Again time.Duration
}

// NewDrain returns how far a ManagedCluster is that has the taint TerminatingTaint since a time.
func NewDrain(since, now time.Time, timeout time.Duration, left Remaining) Drain {
	waited := now.Sub(since)
	switch {
	case left.None():
		return Drain{Done: true}
	case waited >= timeout:
		return Drain{Done: true, TimedOut: true}
	default:
		return Drain{Again: min(max(waited/drainFraction, firstDrainRetry), lastDrainRetry, timeout-waited)}
	}
}

// TerminatingEffect returns the effect of the taint TerminatingTaint for a Cluster that is being deleted, or is gone if it is nil. While a request
// has the Cluster, workload on it stays and none is added; after that, all of it leaves.
func TerminatingEffect(cluster *openmcpv1alpha1.Cluster) clusterv1.TaintEffect {
	if cluster != nil && len(RequestUIDs(cluster)) > 0 {
		return clusterv1.TaintEffectNoSelectIfNew
	}
	return clusterv1.TaintEffectNoSelect
}

// Terminating returns a ManagedCluster with the taint TerminatingTaint of an effect, and when it was added: now, unless it has that effect and
// a time already.
func Terminating(
	managed *clusterv1.ManagedCluster, effect clusterv1.TaintEffect, now metav1.Time,
) (tainted *clusterv1.ManagedCluster, since metav1.Time) {
	taint := clusterv1.Taint{Key: openmcpv1alpha1.TerminatingTaint, Effect: effect, TimeAdded: now}
	for _, present := range managed.Spec.Taints {
		if isTerminating(present) && present.Effect == taint.Effect && !present.TimeAdded.IsZero() {
			return managed, present.TimeAdded
		}
	}
	changed := managed.DeepCopy()
	changed.Spec.Taints = append(slices.DeleteFunc(changed.Spec.Taints, isTerminating), taint)
	return changed, now
}

func isTerminating(taint clusterv1.Taint) bool { return taint.Key == openmcpv1alpha1.TerminatingTaint }
