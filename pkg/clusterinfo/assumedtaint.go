// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// IncompleteTaint is the key of the taint that Placements see on a ManagedCluster whose claims the hub is about to write. Nothing tolerates it,
// because no predicate about claims has a meaning before.
const IncompleteTaint = "placement-hub.open-cluster-management.io/incomplete"

// unknownSince is the first time that stands for an unknown one. No taint of an API server is added so late.
var unknownSince = time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)

// UnknownTime returns the timeAdded of a taint whose time is not known, because it could not be decoded or the taint is not written yet.
func UnknownTime() metav1.Time { return metav1.NewTime(unknownSince) }

// PendingTime returns the timeAdded of a taint that is not written yet and that no incumbent leaves for before it is. It is an unknown time.
func PendingTime() metav1.Time { return metav1.NewTime(unknownSince.AddDate(0, 0, 1)) }

// HasUnknownTime reports whether the timeAdded of a taint is not known. Tolerations with tolerationSeconds do not expire for such a taint: a
// zero time would end them at once and remove the cluster.
func HasUnknownTime(taint clusterv1.Taint) bool { return !taint.TimeAdded.Time.Before(unknownSince) }

// IsPending reports whether the timeAdded of a taint is PendingTime.
func IsPending(taint clusterv1.Taint) bool { return taint.TimeAdded.Time.Equal(PendingTime().Time) }
