// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/turns"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

const (
	// changedReason is the reason of the Events about clusters that decisions have gained and lost, and createdReason that of the Events about first
	// decisions, which have no other.
	changedReason = "ClustersChanged"
	createdReason = "DecisionCreate"
	// changeKept is how long the last change of a Placement is not read again: pages that follow changes are made several times a second, and no
	// informer has Events.
	changeKept = 5 * time.Second
	// changeSettles is how long after a change of a Placement its last change is read again: rows of the history and Events come later.
	changeSettles = 10 * time.Second
	// changeTimeout bounds the question about the history, which another process may have to answer.
	changeTimeout = time.Second
	// changesKept bounds the changes that are kept. The tenant who has most loses those that were not asked for the longest time.
	changesKept = 1000
)

// lastChanges has the last changes of Placements, for the users who may read them. It is safe for concurrent use.
type lastChanges struct {
	kept *turns.Cache[changeKey, lastChange]
}

// changeKey is a Placement and a user, by name and groups.
type changeKey struct {
	user, argument string
}

// lastChange is what is known about the last change, and when it was read.
type lastChange struct {
	text     string
	at, read time.Time
	// changed is when the Placement or its decisions have changed last; zero if that is not known.
	changed time.Time
}

// until returns the time at which the change has to be read again without a change of the Placement; zero for never.
func (l *lastChange) until(now time.Time) time.Time {
	if now.Sub(l.changed) >= changeSettles {
		return time.Time{}
	}
	return l.read.Add(changeKept)
}

func newLastChanges() *lastChanges {
	return &lastChanges{kept: turns.NewCache[changeKey, lastChange](changesKept)}
}

// of returns who left a Placement last, who came, and why. It has no text if the caller may not read that, or if neither the
// history nor an Event has it.
func (c *lastChanges) of(ctx context.Context, v *visit, asked named) lastChange {
	key := changeKey{v.caller.GetName() + "\x00" + strings.Join(v.caller.GetGroups(), "\x00"), asked.argument()}
	known, has := c.kept.Get(key)
	found := known
	if !has || v.now.Sub(known.read) >= changeKept || v.now.Before(known.read) {
		found = readLastChange(ctx, v, asked)
		found.read = v.now
	}
	if version := v.hub.VersionOf(inventory.NewPlacementKey(asked.adapter.Name(), asked.namespace, asked.name)); version > 0 {
		found.changed = time.Unix(0, int64(version))
	}
	c.kept.Add(turns.TenantOf(v.caller), key, found)
	return found
}

// readLastChange reads the last change: the last row of the history, or the last Event where the history has none. A failure is none: the head of the
// page says what else is known.
func readLastChange(ctx context.Context, v *visit, asked named) lastChange {
	if found := lastRow(ctx, v, asked); found.text != "" {
		return found
	}
	return lastEvent(ctx, v, asked)
}

// lastRow returns the last row of the history.
func lastRow(ctx context.Context, v *visit, asked named) lastChange {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	question := asked.question(endpoint.CommandHistory)
	question.Limit = 1
	told, err := v.askHistory(ctx, question)
	if err != nil || len(told.Moves) == 0 {
		return lastChange{}
	}
	line := lineOf(&told.Moves[len(told.Moves)-1])
	return lastChange{text: line.Text, at: line.Time}
}

// lastEvent returns the last Event about the clusters of a Placement. One about first decisions counts where no other came with it.
func lastEvent(ctx context.Context, v *visit, asked named) (found lastChange) {
	events, kind := &corev1.EventList{}, asked.adapter.Kind()
	err := v.reader().List(ctx, events, client.InNamespace(asked.namespace), client.MatchingFields{"involvedObject.name": asked.name},
		client.Limit(listPage))
	if err != nil {
		return lastChange{}
	}
	created := lastChange{}
	for i := range events.Items {
		event := &events.Items[i]
		into := &found
		if event.Reason == createdReason {
			into = &created
		} else if event.Reason != changedReason {
			continue
		}
		of := event.InvolvedObject.GroupVersionKind()
		if of.Kind != kind.Kind || of.Group != "" && of.Group != kind.Group {
			continue
		}
		if happened := timeOf(event); happened.After(into.at) {
			into.text, into.at = event.Message, happened
		}
	}
	if found.text == "" {
		return created
	}
	return found
}

// timeOf returns when an Event happened last.
func timeOf(event *corev1.Event) time.Time {
	last := event.LastTimestamp.Time
	for _, each := range []time.Time{event.EventTime.Time, event.FirstTimestamp.Time} {
		if each.After(last) {
			last = each
		}
	}
	if event.Series != nil && event.Series.LastObservedTime.After(last) {
		last = event.Series.LastObservedTime.Time
	}
	return last
}
