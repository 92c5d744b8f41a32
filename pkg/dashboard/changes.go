// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/turns"
)

const (
	// changedReason is the reason of the Events about clusters that decisions have gained and lost.
	changedReason = "ClustersChanged"
	// changeKept is how long the last change of a Placement is not read again: pages that follow changes are made several times a second, and no
	// informer has Events.
	changeKept = 5 * time.Second
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

// lastChange is what the last Event says, and when it was read.
type lastChange struct {
	text     string
	at, read time.Time
}

func newLastChanges() *lastChanges {
	return &lastChanges{kept: turns.NewCache[changeKey, lastChange](changesKept)}
}

// of returns what the last Event says about who left a Placement, who came, and why; "" if the caller may not list Events, or if there is none any
// more.
func (c *lastChanges) of(ctx context.Context, v *visit, asked named) (text string, at time.Time) {
	key := changeKey{v.caller.GetName() + "\x00" + strings.Join(v.caller.GetGroups(), "\x00"), asked.argument()}
	if known, has := c.kept.Get(key); has && v.now.Sub(known.read) < changeKept && !v.now.Before(known.read) {
		return known.text, known.at
	}
	found := readLastChange(ctx, v, asked)
	found.read = v.now
	c.kept.Add(turns.TenantOf(v.caller), key, found)
	return found.text, found.at
}

// readLastChange reads the last change. A failure is none: the head of the page says what else is known.
func readLastChange(ctx context.Context, v *visit, asked named) (found lastChange) {
	events, kind := &corev1.EventList{}, asked.adapter.Kind()
	err := v.reader().List(ctx, events, client.InNamespace(asked.namespace), client.MatchingFields{"involvedObject.name": asked.name},
		client.Limit(listPage))
	if err != nil {
		return lastChange{}
	}
	for i := range events.Items {
		event := &events.Items[i]
		if event.Reason != changedReason || event.InvolvedObject.Kind != kind.Kind {
			continue
		}
		if happened := timeOf(event); happened.After(found.at) {
			found.text, found.at = event.Message, happened
		}
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
