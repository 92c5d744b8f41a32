package integration

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// film holds every state that the pages of a world go through, in the order in which the API server shows them to consumers.
type film struct {
	events  <-chan watch.Event
	pages   map[types.UID]*clusterv1beta1.PlacementDecision
	frames  []*clusterv1beta1.PlacementDecision
	staying []string
	missed  []string
	armed   bool
}

// watchPages starts to watch all pages of the world.
func (w *world) watchPages(ctx context.Context) *film {
	GinkgoHelper()

	watching, err := client.NewWithWatch(controlPlane.AdminConfig(), client.Options{Scheme: hub.Scheme()})
	Expect(err).NotTo(HaveOccurred())

	opened, err := watching.Watch(ctx, &clusterv1beta1.PlacementDecisionList{}, client.InNamespace(w.namespace))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(opened.Stop)

	events := make(chan watch.Event, 10_000) // The API server drops a watch that is read too slowly.

	go func() {
		defer close(events)

		for event := range opened.ResultChan() {
			events <- event
		}
	}()

	return &film{events: events, pages: map[types.UID]*clusterv1beta1.PlacementDecision{}}
}

// stays demands that from the moment that all of these clusters are in the pages, they are in the union of the pages at every moment.
func (f *film) stays(clusters ...string) { f.staying = clusters }

// until plays the film up to the point where the pages are these, and returns all states seen.
func (f *film) until(ctx context.Context, last []clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	GinkgoHelper()

	for !f.shows(last) {
		var event watch.Event

		Eventually(f.events).WithContext(ctx).WithTimeout(settle).Should(Receive(&event))
		f.play(event)
	}

	Expect(f.missed).To(BeEmpty(), "clusters that stay selected and were in no page for a moment")

	return f.frames
}

func (f *film) play(event watch.Event) {
	GinkgoHelper()

	page, ok := event.Object.(*clusterv1beta1.PlacementDecision)
	Expect(ok).To(BeTrue(), "unexpected event %v", event)

	if event.Type == watch.Deleted {
		delete(f.pages, page.UID)
	} else {
		f.pages[page.UID] = page
		f.frames = append(f.frames, page)
	}

	union := map[string]bool{}

	for _, page := range f.pages {
		for _, decision := range page.Status.Decisions {
			union[decision.ClusterName] = true
		}
	}

	absent := func(cluster string) bool { return !union[cluster] }
	f.armed = f.armed || len(f.staying) > 0 && !slices.ContainsFunc(f.staying, absent)

	if i := slices.IndexFunc(f.staying, absent); f.armed && i >= 0 {
		f.missed = append(f.missed, f.staying[i]+" after "+string(event.Type)+" of "+page.Name)
	}
}

func (f *film) shows(last []clusterv1beta1.PlacementDecision) bool {
	if len(f.pages) != len(last) {
		return false
	}

	return !slices.ContainsFunc(last, func(page clusterv1beta1.PlacementDecision) bool {
		seen := f.pages[page.UID]

		return seen == nil || seen.ResourceVersion != page.ResourceVersion
	})
}
