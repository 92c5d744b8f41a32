// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An Event about an object names the works that finalizers have kept for FinalizerTimeout, and the next look is when there is another one.
func TestKeptByFinalizers(t *testing.T) {
	deleted := func(cluster string, before time.Duration) ExistingWork {
		return ExistingWork{Cluster: cluster, Deleting: true, DeletedAt: metav1.NewTime(epoch.Add(-before)), KeptBy: "a/" + cluster}
	}
	foreign := deleted("c1", time.Hour)
	foreign.Foreign = true
	for _, tc := range []struct {
		reason string
		works  []ExistingWork
		// kept are the clusters in the text.
		kept string
		next time.Duration
	}{
		{reason: "no work"},
		{reason: "a work that is not being deleted", works: withWorks("c1")},
		{reason: "a work of somebody else", works: []ExistingWork{foreign}},
		{reason: "not long enough yet", works: []ExistingWork{deleted("c1", FinalizerTimeout-1)}, next: 1},
		{reason: "just long enough", works: []ExistingWork{deleted("c1", FinalizerTimeout)}, kept: "c1 (a/c1)"},
		{
			reason: "three clusters are named", works: []ExistingWork{deleted("c3", time.Hour), deleted("c1", time.Hour), deleted("c2", time.Hour)},
			kept: "c1 (a/c1), c2 (a/c2), c3 (a/c3)",
		},
		{
			reason: "further clusters are counted, and the next one of those that wait decides when to look again", works: []ExistingWork{
				deleted("c5", 20*time.Second), deleted("c6", 40*time.Second), deleted("c7", 30*time.Second),
				deleted("c4", time.Hour), deleted("c2", time.Hour), deleted("c1", time.Hour), deleted("c3", time.Hour),
			},
			kept: "c1 (a/c1), c2 (a/c2), c3 (a/c3) and 1 more", next: 20 * time.Second,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			e := &Evaluation{Object: configMap(nil), Works: tc.works}
			want := ""
			if tc.kept != "" {
				want = "finalizers keep the ManifestWork " + e.Object.Identity().WorkName() +
					", which was deleted more than a minute ago, in clusters " + tc.kept +
					"; ask an administrator of the hub if the agents do not remove them"
			}
			if got, next := e.KeptByFinalizers(epoch); got != want || next != tc.next {
				t.Errorf("got %q and %s, want %q and %s", got, next, want, tc.next)
			}
		})
	}
}
