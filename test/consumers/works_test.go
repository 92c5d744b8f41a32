// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/program"
)

const (
	// agents is how many goroutines report that ManifestWorks are applied.
	agents = 8
	// backlog is how many ManifestWorks may wait for such a report.
	backlog = 100_000
	// shown is how many names a finding lists.
	shown = 5
)

// workKey identifies the ManifestWork of a ManifestWorkReplicaSet for a cluster.
type workKey struct{ cluster, set string }

// workState is what matters of a ManifestWork.
type workState struct {
	uid      types.UID
	revision int // of the template from which it was made
}

// workEvent is an event of the watch.
type workEvent struct {
	workKey
	workState

	kind watch.EventType
}

// works records every event of every ManifestWork, and stands in for the agents of the managed clusters: it reports every ManifestWork as
// applied, which progressive rollouts wait for. Its methods may be called concurrently.
type works struct {
	client  client.WithWatch
	reports chan *workv1.ManifestWork

	mu     sync.Mutex
	now    map[workKey]workState
	events []workEvent
}

// recordWorks starts a watch that begins before there is any ManifestWork and lasts as long as the test.
func recordWorks(t *testing.T, api client.WithWatch) *works {
	t.Helper()
	w := &works{client: api, reports: make(chan *workv1.ManifestWork, backlog), now: map[workKey]workState{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	list := &workv1.ManifestWorkList{}
	program.Must(t, api.List(ctx, list))
	opened, err := api.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	program.Must(t, err)
	var group sync.WaitGroup

	group.Go(func() {
		for event := range opened.ResultChan() {
			work, isWork := event.Object.(*workv1.ManifestWork)
			if !isWork && ctx.Err() != nil { // The end of a watch can be an event too.
				return
			}
			if !isWork {
				t.Errorf("the watch of ManifestWorks shows %v", event.Object)
				return
			}

			if err := w.record(event.Type, work); err != nil {
				t.Error(err)
			}
		}

		if ctx.Err() == nil {
			t.Error("the watch of ManifestWorks has ended, so that the record has a gap")
		}
	})

	for range agents {
		group.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case work := <-w.reports:
					if err := w.report(ctx, work); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				}
			}
		})
	}

	t.Cleanup(func() {
		cancel()
		opened.Stop()
		group.Wait()
	})
	return w
}

func (w *works) record(kind watch.EventType, work *workv1.ManifestWork) error {
	payload := &corev1.ConfigMap{}
	if err := json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, payload); err != nil {
		return fmt.Errorf("payload of ManifestWork %s/%s: %w", work.Namespace, work.Name, err)
	}
	revision, err := strconv.Atoi(payload.Data[revisionKey])
	if err != nil {
		return fmt.Errorf("revision of ManifestWork %s/%s: %w", work.Namespace, work.Name, err)
	}
	event := workEvent{workKey{work.Namespace, work.Name}, workState{work.UID, revision}, kind}

	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, event)
	if kind == watch.Deleted {
		delete(w.now, event.workKey)
		return nil
	}
	w.now[event.workKey] = event.workState

	applied := meta.FindStatusCondition(work.Status.Conditions, workv1.WorkApplied)
	if applied == nil || applied.ObservedGeneration != work.Generation {
		w.reports <- work
	}
	return nil
}

// report says what an agent says when everything is applied and ready.
func (w *works) report(ctx context.Context, work *workv1.ManifestWork) error {
	reported := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: work.Namespace, Name: work.Name}}
	for kind, status := range map[string]metav1.ConditionStatus{
		workv1.WorkApplied: metav1.ConditionTrue, workv1.WorkAvailable: metav1.ConditionTrue, workv1.WorkProgressing: metav1.ConditionFalse,
	} {
		meta.SetStatusCondition(&reported.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: "Reported", ObservedGeneration: work.Generation,
		})
	}

	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": work.UID}, "status": map[string]any{"conditions": reported.Status.Conditions},
	})
	if err != nil {
		return err
	}
	err = w.client.Status().Patch(ctx, reported, client.RawPatch(types.MergePatchType, patch))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // It is deleted, or created anew, which has an event of its own.
		return nil
	}
	return err
}

// count returns how many events there have been.
func (w *works) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.events)
}

// since returns the events after the first n.
func (w *works) since(n int) []workEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events[n:])
}

// difference compares the clusters that have a ManifestWork of a set with those that are to have one.
func (w *works) difference(set string, selected []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var missing, surplus []string
	for _, cluster := range selected {
		if _, found := w.now[workKey{cluster, set}]; !found {
			missing = append(missing, cluster)
		}
	}

	for key := range w.now {
		if key.set == set && !slices.Contains(selected, key.cluster) {
			surplus = append(surplus, key.cluster)
		}
	}
	if len(missing)+len(surplus) > 0 {
		return fmt.Errorf("ManifestWorks %s: missing %s, too many %s", set, some(missing), some(surplus))
	}
	return nil
}

// behind says which ManifestWorks of a set are made from another revision of the template.
func (w *works) behind(set string, revision int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var old []string
	for key, state := range w.now {
		if key.set == set && state.revision != revision {
			old = append(old, key.cluster)
		}
	}

	if len(old) > 0 {
		return fmt.Errorf("ManifestWorks %s: not of revision %d: %s", set, revision, some(old))
	}
	return nil
}

// unstable says which ManifestWorks were deleted although their clusters are selected in the end, and which were created although their
// clusters are not.
func unstable(events []workEvent, selected map[string][]string) []string {
	deleted, created, strange := map[string][]string{}, map[string]int{}, map[string][]string{}
	for _, event := range events {
		stays := slices.Contains(selected[event.set], event.cluster)
		switch {
		case event.kind == watch.Deleted && stays:
			deleted[event.set] = append(deleted[event.set], event.cluster)
		case event.kind == watch.Added && !stays:
			strange[event.set] = append(strange[event.set], event.cluster)
		case event.kind == watch.Added && slices.Contains(deleted[event.set], event.cluster):
			created[event.set]++
		}
	}

	var findings []string
	for set, clusters := range deleted {
		findings = append(findings, fmt.Sprintf("ManifestWorks %s of clusters that stay: deleted %s, of which %d were created anew",
			set, some(clusters), created[set]))
	}
	for set, clusters := range strange {
		findings = append(findings, fmt.Sprintf("ManifestWorks %s of clusters that are not selected: created %s", set, some(clusters)))
	}
	slices.Sort(findings)
	return findings
}

// some shows a few names and how many there are.
func some(names []string) string {
	names = slices.Sorted(slices.Values(names))
	if len(names) <= shown {
		return fmt.Sprintf("%d [%s]", len(names), strings.Join(names, " "))
	}
	return fmt.Sprintf("%d [%s ...]", len(names), strings.Join(names[:shown], " "))
}
