// SPDX-License-Identifier: Apache-2.0

package works

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

const object = "ConfigMap/team-a/settings"

// work returns a work with the UID "cluster-number".
func work(cluster, number string) Work {
	return Work{Key: Key{Object: object, Cluster: cluster}, Name: "fed-configmap-1", UID: types.UID(cluster + "-" + number)}
}

func deleting(of Work) Work {
	of.Deleting = true
	return of
}

func stateOf(works ...Work) State {
	state := State{}
	for _, one := range works {
		state[one.UID] = one
	}
	return state
}

func added(of Work) Event    { return Event{Type: watch.Added, Work: of} }
func modified(of Work) Event { return Event{Type: watch.Modified, Work: of} }
func deleted(of Work) Event  { return Event{Type: watch.Deleted, Work: of} }

// passage returns the Passage of events from a state.
func passage(before State, events ...Event) Passage {
	p := Passage{Before: before, Events: events, After: maps.Clone(before)}
	for _, event := range events {
		p.After.apply(event)
	}
	return p
}

func TestRules(t *testing.T) {
	c1, c2, c3 := work("c1", "1"), work("c2", "1"), work("c3", "1")
	other := c2
	other.Object, other.UID = "ConfigMap/team-a/other", "other"
	for _, tc := range []struct {
		reason                      string
		passage                     Passage
		disturbed, early, duplicate []string
	}{
		{reason: "nothing happens", passage: passage(stateOf(c1))},
		{reason: "an edit keeps the UID", passage: passage(stateOf(c1), modified(c1))},
		{reason: "gain before loss", passage: passage(stateOf(c1, c2), added(c3), modified(deleting(c1)), deleted(deleting(c1)))},
		{
			reason: "loss before gain", passage: passage(stateOf(c1, c2), modified(deleting(c1)), added(c3), deleted(deleting(c1))),
			early: []string{
				"event 0, MODIFIED: the work of ConfigMap/team-a/settings in c1 is deleted while 1 clusters that get the object have no work: c3",
			},
		},
		{
			reason: "another object gains later", passage: passage(stateOf(c1), deleted(c1), added(other)),
		},
		{
			reason: "created again", passage: passage(stateOf(c1), deleted(c1), added(work("c1", "2"))),
			disturbed: []string{"event 0, DELETED: the work fed-configmap-1 of ConfigMap/team-a/settings in c1 is deleted, and the cluster keeps"},
		},
		{
			reason:    "a deletion that is told twice is one",
			passage:   passage(stateOf(c1), modified(deleting(c1)), deleted(deleting(c1)), added(work("c1", "2"))),
			disturbed: []string{"event 0, MODIFIED"},
		},
		{
			reason: "two works of one cluster", passage: passage(stateOf(c1), added(work("c1", "2"))),
			duplicate: []string{"event 0: ConfigMap/team-a/settings in c1 has 2 works"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "Disturbed", tc.passage.Disturbed(tc.passage.Staying()), tc.disturbed)
			expect(t, "EarlyLosses", tc.passage.EarlyLosses(), tc.early)
			expect(t, "Doubled", tc.passage.Doubled(), tc.duplicate)
		})
	}
}

func TestOnlyHasOneObject(t *testing.T) {
	c1, c2 := work("c1", "1"), work("c2", "1")
	other := c2
	other.Object, other.UID = "ConfigMap/team-a/other", "other"

	whole := passage(stateOf(c1, other), deleted(c1), deleted(other), added(work("c1", "2")))
	part := whole.Only(func(key Key) bool { return key.Object == other.Object })
	if diff := cmp.Diff(passage(stateOf(other), deleted(other)), part); diff != "" {
		t.Errorf("the part of the passage (-want +got):\n%s", diff)
	}
	if len(whole.Before) != 2 || len(whole.Events) != 3 || len(whole.After) != 1 {
		t.Errorf("the whole passage has changed: %v", whole)
	}
}

// expect compares each finding with a part of it.
func expect(t *testing.T, rule string, got, want []string) {
	t.Helper()
	if !slices.EqualFunc(got, want, strings.Contains) {
		t.Errorf("%s: got %q, want %q", rule, got, want)
	}
}

// first returns a watch that ends after the modification of a work.
func first(work *metav1.PartialObjectMetadata) watch.Interface {
	watcher := watch.NewFakeWithChanSize(1, false)
	watcher.Modify(work)
	watcher.Stop()
	return watcher
}

func TestHistoryHasEveryEvent(t *testing.T) {
	metadata := func(cluster, version string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{
			TypeMeta: metav1.TypeMeta{APIVersion: workv1.GroupVersion.String(), Kind: "ManifestWork"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: cluster, Name: "fed-configmap-1", UID: types.UID(cluster), ResourceVersion: version,
				Labels: map[string]string{federation.ManagedLabel: "true"}, Annotations: map[string]string{federation.ObjectAnnotation: object},
			},
		}
	}
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}

	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(metadata("c1", "2"), metadata("c2", "3")).Build()
	h := newHistory(api, &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{*metadata("c1", "1")}})
	mark := h.Mark()

	watches := make(chan watch.Interface)
	recording, stop := context.WithCancel(t.Context())
	go h.follow(recording, first(metadata("c1", "2")), func() (watch.Interface, error) {
		if version := h.version(); version != "2" {
			t.Errorf("the next watch begins after version %s, want the last event", version)
		}
		return <-watches, nil
	})
	second := watch.NewFake()

	go func() {
		watches <- second
		second.Add(metadata("c2", "3"))
	}()
	if err := h.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}

	seen := h.Since(mark)
	if len(seen.Before) != 1 || len(seen.Events) != 2 || !seen.After.Keys()[Key{Object: object, Cluster: "c2"}] {
		t.Errorf("the history is %+v", seen)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()

	h.add(watch.Event{Type: watch.Added, Object: metadata("c3", "4")})
	if err := h.CatchUp(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a work that the API server does not have: %v", err)
	}
	stop()
	second.Stop()
	if err := h.CatchUp(t.Context()); !errors.Is(err, errWatchEnded) {
		t.Errorf("a watch that has ended is a gap: %v", err)
	}
}
