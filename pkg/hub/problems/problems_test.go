// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
)

// renewed is when the former leader has renewed the lease last.
var renewed = time.Date(2030, 1, 1, 12, 0, 0, 500, time.UTC)

// step is a look at the object "x", after some time.
type step struct {
	reason  string
	after   time.Duration
	notes   map[string]string
	partial bool
	// changed is when the object was changed, relative to renewed.
	changed time.Duration
	want    []string
}

// T16: the first look at an object reports what was changed after the last renewal of the former leader, and later looks what is new.
func TestNewProblems(t *testing.T) {
	bad, worse := map[string]string{"Bad": "a"}, map[string]string{"Bad": "b", "Held": "c"}
	for _, c := range []struct {
		reason string
		former time.Time
		steps  []step
	}{
		{"without a former leader everything is new", time.Time{}, []step{
			{reason: "first", notes: bad, changed: -time.Hour, want: []string{"Bad"}},
			{reason: "again", notes: bad},
			{reason: "another note", notes: worse, want: []string{"Bad", "Held"}},
			{reason: "one has gone", notes: map[string]string{"Bad": "b"}},
			{reason: "and is back", notes: worse, want: []string{"Held"}},
		}},
		{"the former leader has reported", renewed, []step{
			{reason: "first", notes: bad, changed: -time.Hour},
			{reason: "again", notes: bad},
			{reason: "later problems are new", notes: worse, want: []string{"Bad", "Held"}},
			{reason: "gone", notes: nil},
			{reason: "back", notes: bad, want: []string{"Bad"}},
		}},
		{"what was changed since is new", renewed, []step{{reason: "first", notes: bad, changed: time.Minute, want: []string{"Bad"}}}},
		{"within the second of the renewal it counts as new", renewed, []step{{reason: "first", notes: bad, changed: -200, want: []string{"Bad"}}}},
		{"a first look without problems is one", renewed, []step{
			{reason: "first", changed: -time.Hour},
			{reason: "later", notes: bad, changed: -time.Hour, want: []string{"Bad"}},
		}},
		{"partial looks are parts of the first one, for a while", renewed, []step{
			{reason: "first", partial: true, changed: -time.Hour},
			{reason: "more is known", after: time.Second, notes: bad, partial: true, changed: -time.Hour},
			{reason: "all is known", after: time.Second, notes: worse, changed: -time.Hour},
			{reason: "later", after: time.Second, notes: bad, changed: -time.Hour, want: []string{"Bad"}},
		}},
		{"a partial look drops nothing", time.Time{}, []step{
			{reason: "first", notes: worse, want: []string{"Bad", "Held"}},
			{reason: "partial", notes: map[string]string{"Held": "c"}, partial: true},
			{reason: "complete", notes: worse},
		}},
		{"partial looks do not count for ever", renewed, []step{
			{reason: "first", partial: true, changed: -time.Hour},
			{reason: "the last one of them", after: settling, notes: bad, partial: true, changed: -time.Hour},
			{reason: "later", notes: worse, partial: true, changed: -time.Hour, want: []string{"Bad", "Held"}},
		}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(renewed.Add(time.Hour))
			memory := New[string](clock, func() time.Time { return c.former })
			for _, step := range c.steps {
				clock.SetTime(clock.Now().Add(step.after))
				got, err := memory.New("x", Look{Notes: step.notes, Partial: step.partial, Changed: func() (time.Time, error) {
					return renewed.Add(step.changed), nil
				}})
				if diff := cmp.Diff(step.want, got); err != nil || diff != "" {
					t.Errorf("%s: %v, %s", step.reason, err, diff)
				}
			}
		})
	}
}

func TestAnUnknownChangeIsLookedAtAgain(t *testing.T) {
	memory := New[string](clocktesting.NewFakePassiveClock(renewed), func() time.Time { return renewed })
	broken := errors.New("no answer")
	look := Look{Notes: map[string]string{"Bad": "a"}, Changed: func() (time.Time, error) { return time.Time{}, broken }}
	if got, err := memory.New("x", look); !errors.Is(err, broken) || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	look.Changed = func() (time.Time, error) { return renewed.Add(time.Minute), nil }
	if got, err := memory.New("x", look); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}

	memory.Forget("x")
	if got, err := memory.New("x", look); err != nil || len(got) != 1 {
		t.Errorf("after Forget: got %v, %v", got, err)
	}
}

func TestLastChange(t *testing.T) {
	at := func(minutes int) *metav1.Time {
		return &metav1.Time{Time: renewed.Add(time.Duration(minutes) * time.Minute)}
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: *at(1), ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Time: at(3)}, {Manager: "old", Time: at(2)}, {Manager: "none"}, {Manager: "status", Subresource: "status", Time: at(9)},
	}}}
	if got := LastChange(object); !got.Equal(at(3).Time) {
		t.Errorf("got %v, want %v", got, at(3))
	}
	object.DeletionTimestamp = at(5)

	if got := LastChange(object); !got.Equal(at(5).Time) {
		t.Errorf("got %v, want the deletion", got)
	}
}
