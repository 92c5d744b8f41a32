package integration

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/film"
)

// recording is a film of the pages of a world, and the clusters that are to be in them all the time.
type recording struct {
	*film.Film

	staying []string
	// from is the number of frames before they were asked for, and all says that they were all there then.
	from int
	all  bool
}

// watchPages starts to record all pages of the world.
func (w *world) watchPages(ctx context.Context) *recording {
	GinkgoHelper()

	return recorded(ctx, func(watching context.Context) (*film.Film, error) {
		return film.Record(watching, controlPlane.AdminConfig(), w.namespace)
	})
}

// watchThrough starts to record what a lens shows of the world.
func (w *world) watchThrough(ctx context.Context, lens film.Lens) *recording {
	GinkgoHelper()

	return recorded(ctx, func(watching context.Context) (*film.Film, error) {
		return film.RecordThrough(watching, controlPlane.AdminConfig(), w.namespace, lens)
	})
}

func recorded(ctx context.Context, start func(context.Context) (*film.Film, error)) *recording {
	GinkgoHelper()

	watching, cancel := context.WithCancel(context.WithoutCancel(ctx)) // Later specs of a container go on with it.
	DeferCleanup(cancel)

	shot, err := start(watching)
	Expect(err).NotTo(HaveOccurred())

	return &recording{Film: shot}
}

// shown is what a lens makes of an object that has these members.
func shown(metadata metav1.ObjectMeta, members []string) *clusterv1beta1.PlacementDecision {
	page := &clusterv1beta1.PlacementDecision{ObjectMeta: metadata}
	for _, member := range members {
		page.Status.Decisions = append(page.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: member})
	}

	return page
}

// stays demands that from the moment that all of these clusters are in the pages, they are in the union of the pages at every moment.
func (r *recording) stays(clusters ...string) {
	r.staying = clusters
	r.from = len(r.Frames())
	r.all = len(film.MissingOf(clusters, []film.Frame{{Pages: r.Now()}})) == 0
}

// until plays the film up to the point where the pages are these, and returns all states of them that were seen.
func (r *recording) until(ctx context.Context, last []clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	GinkgoHelper()

	timed, cancel := context.WithTimeout(ctx, settle)
	defer cancel()

	Expect(r.Until(timed, last)).To(Succeed())
	r.expectStays()

	var seen []*clusterv1beta1.PlacementDecision

	for _, frame := range r.Frames() {
		if frame.Type != watch.Deleted {
			seen = append(seen, frame.Page)
		}
	}

	return seen
}

// expectStays looks at what was played so far.
func (r *recording) expectStays() {
	GinkgoHelper()

	frames := slices.Concat(r.Frames()[r.from:], []film.Frame{{Pages: r.Now()}}) // Nothing may have happened.
	complete := slices.IndexFunc(frames, func(frame film.Frame) bool { return len(film.MissingOf(r.staying, []film.Frame{frame})) == 0 })

	if r.all { // To be missing in the first frame, and back in a later one, is to be missing.
		complete = 0
	}

	if len(r.staying) > 0 {
		Expect(complete).To(BeNumerically(">=", 0), "all clusters that are to stay are there once")
		Expect(film.MissingOf(r.staying, frames[complete:])).To(BeEmpty(), "B1: clusters that stay selected and were in no page for a moment")
	}
}
