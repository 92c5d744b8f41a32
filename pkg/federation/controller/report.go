package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// action is the action of all Events about delivered objects.
const action = "Federate"

// The kinds of requests in the metrics.
const (
	requestApply     = "apply"
	requestPatch     = "patch"
	requestDelete    = "delete"
	requestFinalizer = "finalizer"
)

// resultOf returns the result of a request for the metrics.
func resultOf(err error) metrics.Result {
	switch {
	case err == nil:
		return metrics.WriteOK
	case queue.Outdated(err):
		return metrics.WriteOutdated
	default:
		return metrics.WriteError
	}
}

// enqueueLinked enqueues objects for a change of an object that they need, or that needs them.
func (r *reconciler) enqueueLinked(keys []inventory.Key) {
	keys = slices.DeleteFunc(keys, func(key inventory.Key) bool { return !r.state.owns(key) })
	r.state.enqueue(queue.PriorityFleet, keys...)
}

// report sends the Events of a cycle: one for what it has done, and one for each problem that is new. A cycle that is not complete ended with an
// error: the problems that it does not show may be there still.
func (r *reconciler) report(ctx context.Context, p *cycle, complete bool) error {
	if p.writes.held != "" {
		klog.FromContext(ctx).V(2).Info("Works are not withdrawn", "why", p.writes.held)
	}

	r.reportChange(ctx, p, federation.ReasonDelivered, "Delivered to clusters ", p.writes.delivered)
	r.reportChange(ctx, p, federation.ReasonWithdrawn, "Withdrawn from clusters ", p.writes.withdrawn)

	notes := p.problems(r.clock.Now())

	fresh, err := r.state.problems.New(p.key, problems.Look{
		Notes: notes, Partial: !complete || p.Pending() || len(p.writes.missed) > 0 && !p.writes.told,
		Changed: func() (time.Time, error) { return r.lastChange(ctx, p) },
	})
	if err != nil {
		return err
	}

	for _, reason := range []string{
		federation.ReasonClusterSelectorInvalid, federation.ReasonFederationSuspended, federation.ReasonTooLarge,
		federation.ReasonDeliveryFailed, federation.ReasonDeliveryConflict, federation.ReasonDependenciesMissing, federation.ReasonRemovalHeld,
		federation.ReasonDeletionWaiting,
	} {
		if slices.Contains(fresh, reason) {
			r.event(p, corev1.EventTypeWarning, reason, notes[reason])
		}
	}

	return nil
}

// reportChange sends an Event and writes a log line about the clusters that really gained or lost the object; none for no cluster.
func (r *reconciler) reportChange(ctx context.Context, p *cycle, reason, did string, clusters []string) {
	if len(clusters) == 0 {
		return
	}

	slices.Sort(clusters)

	note := did + scheduling.NameReasons(clusters, p.ReasonOf)
	klog.FromContext(ctx).Info("The clusters of an object changed", "object", p.key.String(), "changes", note)
	r.event(p, corev1.EventTypeNormal, reason, note)
}

// problems returns the notes about what is wrong with an object, by the reasons of their Events.
func (p *cycle) problems(now time.Time) map[string]string {
	found := map[string]string{}

	if p.Reason != "" {
		found[p.Reason] = p.Message
	}

	if p.writes.tooLarge != nil {
		found[federation.ReasonTooLarge] = fmt.Sprintf("Nothing is delivered: %v. Split the object.", p.writes.tooLarge)
	}

	if p.writes.heldReason != "" {
		found[p.writes.heldReason] = p.writes.held
	}

	if note := p.refusals(); note != "" {
		found[federation.ReasonDeliveryFailed] = strings.Trim(found[federation.ReasonDeliveryFailed]+"; "+note, "; ")
	}

	if note := p.conflicts(); note != "" {
		found[federation.ReasonDeliveryConflict] = note
	}

	if note := p.missing(); note != "" {
		found[federation.ReasonDependenciesMissing] = note
	}

	if away := p.Away(now); len(away) > 0 {
		found[federation.ReasonDeletionWaiting] = fmt.Sprintf("waiting for clusters %s to remove %s",
			removalbudget.Name(away), p.Object.Identity().NamespacedName)
	}

	return found
}

// isRefusal reports whether the API server, or an admission webhook that it calls, refuses a request, so that a retry alone does not mend it.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

// refuse notes a write on the way to the delivery if the error is a refusal.
func (p *cycle) refuse(what string, err error) { p.noteRefusal(&p.writes.refused, what, err) }

// refuseRemoval notes a write by which a work or finalizer is removed if the error is a refusal.
func (p *cycle) refuseRemoval(what string, err error) { p.noteRefusal(&p.writes.keptBack, what, err) }

func (p *cycle) noteRefusal(notes *[]string, what string, err error) {
	if !isRefusal(err) {
		return
	}

	p.writes.mu.Lock()
	defer p.writes.mu.Unlock()

	*notes = append(*notes, what+": "+err.Error())
}

// refusals returns a note about refused writes; empty for none.
func (p *cycle) refusals() string {
	var notes []string

	if refused := p.writes.refused; len(refused) > 0 {
		slices.Sort(refused)
		notes = append(notes, "the API server refuses "+strings.Join(shorten(refused), "; ")+
			"; clusters in scope keep their copies for at most "+federation.GainWait.String()+". "+
			"Grant the hub the right, or correct the object, quota or policy that the message names; the hub tries again")
	}

	if refused := p.writes.keptBack; len(refused) > 0 {
		slices.Sort(refused)
		notes = append(notes, "the API server refuses "+strings.Join(shorten(refused), "; ")+
			". Grant the hub the right, or correct the webhook or policy that the message names; the hub tries again")
	}

	return strings.Join(notes, "; ")
}

// conflicts returns a note about works whose name is taken, and copies that agents cannot apply; empty for none.
func (p *cycle) conflicts() string {
	var notes []string

	if taken := p.writes.taken; len(taken) > 0 {
		slices.Sort(taken)
		notes = append(notes, fmt.Sprintf(
			"ManifestWork %s of clusters %s is not the hub's, and the others keep their copies for at most %s; delete it or rename the object",
			p.Object.Identity().WorkName(), removalbudget.Name(slices.Compact(taken)), federation.GainWait))
	}

	if missed := p.writes.missed; len(missed) > 0 && p.writes.told {
		slices.Sort(missed)
		notes = append(notes, fmt.Sprintf("clusters %s have no namespace on the hub; accept them or select other ones",
			removalbudget.Name(missed)))
	}

	for _, work := range p.Works {
		if work.Applied == metav1.ConditionFalse && !work.Deleting && slices.Contains(p.Selected, work.Cluster) {
			notes = append(notes, fmt.Sprintf("cluster %s: %s", work.Cluster, work.Problem))
		}
	}

	return strings.Join(shorten(notes), "; ")
}

// mostNotes is how many clusters one Event tells about.
const mostNotes = 3

func shorten(notes []string) []string {
	if len(notes) <= mostNotes {
		return notes
	}

	return append(notes[:mostNotes:mostNotes], fmt.Sprintf("and %d more", len(notes)-mostNotes))
}

// missing returns a note about missing dependencies; empty for none.
func (p *cycle) missing() string {
	notes := make([]string, 0, len(p.Missing))
	for _, missing := range p.Missing {
		notes = append(notes, fmt.Sprintf("%s %s does not reach clusters %s", missing.Kind, missing.Name, removalbudget.Name(missing.Clusters)))
	}

	if len(notes) == 0 {
		return ""
	}

	hint := ""
	if !p.Propagates {
		hint = fmt.Sprintf("; the annotation %s=true delivers them with it", federation.PropagateDependenciesAnnotation)
	}

	return strings.Join(shorten(notes), "; ") + hint
}

// event sends an Event about the object.
func (r *reconciler) event(p *cycle, eventType, reason, note string) {
	object := p.Object
	reference := &corev1.ObjectReference{
		APIVersion: object.Kind.GroupVersion().String(), Kind: object.Kind.Kind, Namespace: p.key.Namespace, Name: p.key.Name,
		UID: object.Meta.UID,
	}
	r.recorder.Eventf(reference, nil, eventType, reason, action, "%s", note)
}
