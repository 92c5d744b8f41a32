// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// action is the action of all Events about delivered objects.
const action = "Federate"

// reporter sends the Events about objects.
type reporter struct {
	state    *state
	recorder events.EventRecorder
	changes  *changes
	clock    clock.PassiveClock
}

// report sends the Events of a cycle: one for what it has done, and one for each problem that is new. A cycle that is not complete ended with an
// error: the problems that it does not show may be there still.
func (r *reporter) report(ctx context.Context, c *cycle, complete bool) error {
	if c.notes.held != "" {
		klog.FromContext(ctx).V(2).Info("Works are not withdrawn", "why", c.notes.held)
	}
	r.reportChange(ctx, c, federation.ReasonDelivered, "Written for clusters ", c.notes.delivered)
	r.reportChange(ctx, c, federation.ReasonWithdrawn, "Withdrawn from clusters ", c.notes.withdrawn)
	notes := c.problems(r.clock.Now())

	fresh, err := r.state.problems.New(c.key, problems.Look{
		Notes: notes, Partial: !complete || c.Pending() || len(c.notes.missed) > 0 && !c.notes.told,
		Changed: func() (time.Time, error) { return r.changes.last(ctx, c) },
	})
	if err != nil {
		return err
	}

	for _, reason := range []string{
		federation.ReasonClusterSelectorInvalid, federation.ReasonFederationSuspended, federation.ReasonTooLarge,
		federation.ReasonDeliveryFailed, federation.ReasonDeliveryConflict, federation.ReasonDependenciesMissing, federation.ReasonReplicasUnplaced,
		federation.ReasonRemovalHeld, federation.ReasonDeletionWaiting,
	} {
		if slices.Contains(fresh, reason) {
			r.event(c, corev1.EventTypeWarning, reason, notes[reason])
		}
	}
	return nil
}

// reportChange sends an Event and writes a log line about the clusters that really gained or lost the object; none for no cluster.
func (r *reporter) reportChange(ctx context.Context, c *cycle, reason, did string, clusters []string) {
	if len(clusters) == 0 {
		return
	}
	slices.Sort(clusters)
	note := did + scheduling.NameReasons(clusters, c.ReasonOf)
	klog.FromContext(ctx).Info("The clusters of an object changed", "object", c.key.String(), "changes", note)
	r.event(c, corev1.EventTypeNormal, reason, note)
}

// problems returns the notes about what is wrong with an object, by the reasons of their Events.
func (c *cycle) problems(now time.Time) map[string]string {
	found := map[string]string{}
	if c.Reason != "" {
		found[c.Reason] = c.Message
	}
	if c.notes.tooLarge != nil {
		found[federation.ReasonTooLarge] = fmt.Sprintf("Nothing is delivered: %v. Split the object.", c.notes.tooLarge)
	}
	if c.notes.heldReason != "" {
		found[c.notes.heldReason] = c.notes.held
	}

	if note := c.notes.refusals(); note != "" {
		found[federation.ReasonDeliveryFailed] = strings.Trim(found[federation.ReasonDeliveryFailed]+"; "+note, "; ")
	}
	if note := c.conflicts(); note != "" {
		found[federation.ReasonDeliveryConflict] = note
	}
	if note := c.missing(); note != "" {
		found[federation.ReasonDependenciesMissing] = note
	}
	if _, note := c.Unplaced(); note != "" {
		found[federation.ReasonReplicasUnplaced] = note
	}

	if waiting := c.WaitingMessage(c.Away(now), now); waiting != "" {
		found[federation.ReasonDeletionWaiting] = waiting
	}
	return found
}

// conflicts returns a note about works whose name is taken, and copies that agents cannot apply; empty for none.
func (c *cycle) conflicts() string {
	var notes []string
	if taken := c.notes.taken; len(taken) > 0 {
		slices.Sort(taken)
		notes = append(notes, fmt.Sprintf(
			"ManifestWork %s of clusters %s is not the hub's, and the others keep their copies for at most %s; delete it or rename the object",
			c.Object.Identity().WorkName(), removalbudget.Name(slices.Compact(taken)), federation.GainWait))
	}

	if missed := c.notes.missed; len(missed) > 0 && c.notes.told {
		slices.Sort(missed)
		notes = append(notes, fmt.Sprintf("clusters %s have no namespace on the hub; accept them or select other ones",
			removalbudget.Name(missed)))
	}
	for _, work := range c.Works {
		if work.Applied == metav1.ConditionFalse && !work.Deleting && slices.Contains(c.Selected, work.Cluster) {
			notes = append(notes, fmt.Sprintf("cluster %s: %s", work.Cluster, work.Problem))
		}
	}
	return strings.Join(shorten(notes), "; ")
}

// missing returns a note about missing dependencies; empty for none.
func (c *cycle) missing() string {
	notes := make([]string, 0, len(c.Missing))
	for _, missing := range c.Missing {
		notes = append(notes, fmt.Sprintf("%s %s does not reach clusters %s", missing.Kind, missing.Name, removalbudget.Name(missing.Clusters)))
	}
	if len(notes) == 0 {
		return ""
	}

	hint := ""
	if !c.Propagates {
		hint = fmt.Sprintf("; the annotation %s=true delivers them with it", federation.PropagateDependenciesAnnotation)
	}
	return strings.Join(shorten(notes), "; ") + hint
}

// event sends an Event about the object. The API server creates no Event in a Namespace that is being deleted: there the Event is about the
// Namespace, which waits for the object.
func (r *reporter) event(c *cycle, eventType, reason, note string) {
	object := c.Object
	reference := &corev1.ObjectReference{
		APIVersion: object.Kind.GroupVersion().String(), Kind: object.Kind.Kind, Namespace: c.key.Namespace, Name: c.key.Name,
		UID: object.Meta.UID,
	}
	if namespace := c.namespace; namespace != nil && !namespace.DeletionTimestamp.IsZero() {
		reference = &corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID}
		note = object.Identity().String() + ": " + note
	}
	r.recorder.Eventf(reference, nil, eventType, reason, action, "%s", note)
}
