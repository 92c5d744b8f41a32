// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/history"
)

// Recording is a record of all states of the pages of a fixture, and the clusters that must be in them all the time.
type Recording struct {
	*history.History

	required []string
	// from is the number of events before the clusters were required, and all says that all of them were in the pages then.
	from int
	all  bool
}

// RecordPages starts to record the PlacementDecisions of v1beta1 of the fixture.
func (f *Fixture) RecordPages(ctx context.Context) *Recording {
	GinkgoHelper()
	return recorded(ctx, func(watching context.Context) (*history.History, error) {
		return history.Record(watching, ControlPlane.AdminConfig(), f.Namespace)
	})
}

// RecordWith starts to record the objects of the fixture that an adapter converts.
func (f *Fixture) RecordWith(ctx context.Context, adapter history.Adapter) *Recording {
	GinkgoHelper()
	return recorded(ctx, func(watching context.Context) (*history.History, error) {
		return history.RecordWith(watching, ControlPlane.AdminConfig(), f.Namespace, adapter)
	})
}

func recorded(ctx context.Context, start func(context.Context) (*history.History, error)) *Recording {
	GinkgoHelper()
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx)) // Later specs of a container go on with it.
	DeferCleanup(cancel)
	shot, err := start(watching)
	Expect(err).NotTo(HaveOccurred())
	return &Recording{History: shot}
}

// PageOf returns a PlacementDecision with this metadata and these clusters, for an adapter.
func PageOf(metadata metav1.ObjectMeta, members []string) *clusterv1beta1.PlacementDecision {
	page := &clusterv1beta1.PlacementDecision{ObjectMeta: metadata}
	for _, member := range members {
		page.Status.Decisions = append(page.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: member})
	}
	return page
}

// Require has later expectations demand that these clusters are in the union of the pages at every moment, from the first moment on at which
// all of them are.
func (r *Recording) Require(clusters ...string) {
	r.required = clusters
	r.from = len(r.Events())
	r.all = len(history.MissingOf(clusters, []history.Event{{Pages: r.Current()}})) == 0
}

// PlayUntil waits until the pages are last, demands that the required clusters were there, and returns all states of pages up to then.
func (r *Recording) PlayUntil(ctx context.Context, last []clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	GinkgoHelper()
	timed, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	Expect(r.Until(timed, last)).To(Succeed())
	r.ExpectRequired()
	var seen []*clusterv1beta1.PlacementDecision

	for _, frame := range r.Events() {
		if frame.Type != watch.Deleted {
			seen = append(seen, frame.Page)
		}
	}
	return seen
}

// ExpectRequired demands that the required clusters were in the pages at every moment up to now.
func (r *Recording) ExpectRequired() {
	GinkgoHelper()
	frames := slices.Concat(r.Events()[r.from:], []history.Event{{Pages: r.Current()}}) // Nothing may have happened.
	complete := slices.IndexFunc(frames, func(frame history.Event) bool { return len(history.MissingOf(r.required, []history.Event{frame})) == 0 })
	if r.all { // To be missing in the first event, and back in a later one, is to be missing.
		complete = 0
	}
	if len(r.required) > 0 {
		Expect(complete).To(BeNumerically(">=", 0), "all clusters that are to stay are there once")
		Expect(history.MissingOf(r.required, frames[complete:])).To(BeEmpty(), "B1: clusters that stay selected and were in no page for a moment")
	}
}
