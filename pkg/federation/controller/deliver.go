package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

const (
	// firstPostponed and longestPostponed bound the backoff of a withdrawal that could not be proved.
	firstPostponed   = time.Second
	longestPostponed = 30 * time.Second
	// firstChanged and longestChanged bound the backoff of objects that have changed since they were evaluated. The first retry is immediate;
	// further ones wait for a watch that is behind.
	firstChanged   = time.Nanosecond
	longestChanged = 10 * time.Second
	// maxNewer is how often in a row an object is evaluated again because of events that arrived while its withdrawals were proved.
	maxNewer = 3
	// firstMissed begins the backoff of works that cannot be created because the namespace of the cluster does not exist.
	firstMissed = time.Second
	// toldMissed is after how many retries an Event tells of the namespace: that of a new cluster appears soon after it.
	toldMissed = 4
)

// errChanged means that what was evaluated has changed since, so that the object has to be evaluated again.
var errChanged = errors.New("the object has changed since it was evaluated")

// backoff is how long objects wait for the next retry.
type backoff = workqueue.TypedRateLimiter[inventory.Key]

func newBackoff(first, longest time.Duration) backoff {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[inventory.Key](first, longest)
}

// writes are the requests of a cycle.
type writes struct {
	mu sync.Mutex
	// delivered and withdrawn are the clusters whose work was created and deleted; count is the number of all requests that succeeded.
	delivered, withdrawn []string
	count                int
	// taken are the clusters in which a work of that name is not the hub's, and failed those of which a write has failed.
	taken, failed []string
	// missed are the clusters whose namespace does not exist, or is terminating; told reports whether an Event tells of them.
	missed []string
	told   bool
	// refused are the writes on the way to the delivery that the API server refuses, with its reasons, and keptBack are those by which works
	// and finalizers are removed.
	refused, keptBack []string
	// made are the works of each variant, which belong to no cluster.
	made map[federation.Variant]*workv1.ManifestWork
	// held is why nothing is withdrawn, with the reason of the Event; empty for none.
	heldReason, held string
	// size is that of a payload that is too large; nil if it is not.
	tooLarge *federation.TooLargeError
}

// unserved returns the clusters that could not get the object.
func (w *writes) unserved() []string { return slices.Concat(w.taken, w.failed) }

// deliver writes the works of the selected clusters, and withdraws the others. It returns after which time to look again.
func (r *reconciler) deliver(ctx context.Context, p *cycle) (time.Duration, error) {
	plan, err := p.Plan(func(variant federation.Variant) (string, error) { return r.hash(ctx, p, variant) })
	if tooLarge, is := errors.AsType[*federation.TooLargeError](err); is {
		p.writes.tooLarge = tooLarge

		return r.lose(ctx, p, plan) // A change of the object ends it.
	}

	if err != nil {
		return 0, err
	}

	p.writes.taken = plan.Conflicts

	failed := r.gain(ctx, p, plan)
	if errors.Is(failed, errChanged) {
		return 0, failed
	}

	again, err := r.lose(ctx, p, plan)
	if err := errors.Join(failed, err); err != nil {
		return 0, err
	}

	if len(p.writes.taken) > 0 {
		again = earlier(again, conflictRetry)
	}

	if len(p.writes.missed) > 0 {
		again = earlier(again, r.missed.When(p.key))
		p.writes.told = r.missed.NumRequeues(p.key) > toldMissed
	} else {
		r.missed.Forget(p.key)
	}

	if len(plan.Lose) == len(p.writes.withdrawn) && len(plan.Waiting) == 0 && len(p.writes.taken) == 0 && len(p.writes.missed) == 0 {
		p.memory.past.Target, p.memory.past.Selected = p.OwnTarget(), p.Target.String()
	}

	return again, nil
}

// withdrawLost withdraws the works of clusters that have left the scope of an object that is held or suspended.
func (r *reconciler) withdrawLost(ctx context.Context, p *cycle) (time.Duration, error) {
	plan, err := p.Plan(nil)
	if err != nil {
		return 0, err
	}

	return r.lose(ctx, p, plan)
}

// earlier returns the shorter of two times to wait, of which zero means never.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}

	return a
}

// hash returns the hash of the works of a variant; it reads the object if the hash is not known.
func (r *reconciler) hash(ctx context.Context, p *cycle, variant federation.Variant) (string, error) {
	if known, found := p.memory.hashes[variant]; found {
		return known, nil
	}

	if err := r.loadPayload(ctx, p); err != nil {
		return "", err
	}

	work, err := p.made(variant)
	if err != nil {
		return "", err
	}

	if p.memory.hashes == nil {
		p.memory.hashes = map[federation.Variant]string{}
	}

	hash := work.Annotations[federation.HashAnnotation]
	p.memory.hashes[variant] = hash

	return hash, nil
}

// loadPayload reads the payload of the evaluated object unless the cycle has it.
func (r *reconciler) loadPayload(ctx context.Context, p *cycle) error {
	if p.payload != nil {
		return nil
	}

	meta, err := r.read(ctx, p, p.Object.Kind)
	if err != nil {
		return err
	}

	if p.payload == nil || meta.ResourceVersion != p.Object.Meta.ResourceVersion {
		return errChanged
	}

	return nil
}

// gain adds the finalizer and writes the works of the clusters that gain the object, and then of those that get fewer replicas. It notes the
// clusters whose writes have failed.
func (r *reconciler) gain(ctx context.Context, p *cycle, plan federation.WorkPlan) error {
	if len(plan.Gain) == 0 && len(plan.Reduce) == 0 {
		return nil
	}

	if err := r.prepareGain(ctx, p); err != nil {
		p.writes.failed = slices.Concat(plan.Gain, plan.Reduce)

		return err
	}

	write := func(ctx context.Context, cluster string) error { return r.apply(ctx, p, cluster) }
	if err := r.each(ctx, plan.Gain, write); err != nil {
		return err
	}

	p.removal.ProvedAt = r.clock.Now() // The replicas of a plan need no proof.

	return r.remove(ctx, p, plan.Reduce, write)
}

// prepareGain reads the payload, and adds the finalizer to the object.
func (r *reconciler) prepareGain(ctx context.Context, p *cycle) error {
	if err := r.loadPayload(ctx, p); err != nil {
		return err
	}

	return r.addFinalizer(ctx, p)
}

// lose withdraws works, as far as federation.Evaluation.Outcome and the proof of the view allow.
func (r *reconciler) lose(ctx context.Context, p *cycle, plan federation.WorkPlan) (time.Duration, error) {
	now := r.clock.Now()
	outcome := p.Outcome(plan, p.writes.unserved(), r.limits, p.memory.past, now)
	p.memory.past = outcome.Past
	p.writes.heldReason, p.writes.held = outcome.Reason, outcome.Note()

	if len(outcome.Allowed) == 0 {
		r.postponed.Forget(p.key)

		return outcome.Wait(now), nil
	}

	postponed, err := r.prove(ctx, p, &outcome, plan.Gain)
	again := earlier(outcome.Wait(now), postponed)

	if err != nil || len(outcome.Allowed) == 0 {
		return again, err
	}

	// A list of a watch that is opened again shows the cluster that loses the object before the one that gains it.
	if r.state.Queue.Queued(p.key) && r.changed.NumRequeues(p.key) < maxNewer {
		return 0, errChanged
	}

	err = r.remove(ctx, p, outcome.Allowed, func(ctx context.Context, cluster string) error { return r.withdraw(ctx, p, cluster) })
	p.memory.past = outcome.Withdrew(p.writes.withdrawn, now)

	return again, err
}

// prove drops from the outcome what is not proved, and returns after which time to try again; zero if all is proved.
func (r *reconciler) prove(ctx context.Context, p *cycle, outcome *federation.Outcome, gained []string) (time.Duration, error) {
	proved, err := r.proved(ctx, p, &outcome.Removal, gained)

	switch {
	case err != nil:
		return 0, err
	case !proved:
		return r.postponed.When(p.key), nil
	default:
		r.postponed.Forget(p.key)

		return 0, nil
	}
}

// proved compares the evaluation with the latest state of what decides about the clusters that lose or gain the object, and drops from the
// removal what is not proved. It reports whether all is. The error is errChanged when the evaluation has to be made again.
func (r *reconciler) proved(ctx context.Context, p *cycle, lost *federation.Removal, gained []string) (bool, error) {
	removal := freshness.Removal{
		Object: freshness.Object{Resource: resourceOf(p.Object.Kind), NamespacedName: p.key.NamespacedName},
		Since:  p.shown, Reads: p.Reads(),
		Meta: p.Object.Meta, Annotations: federation.HubAnnotations, Clusters: slices.Concat(lost.Allowed, gained),
		AnyScope: !lost.ForScope(),
		Others:   []freshness.Object{{Resource: namespaceResource, NamespacedName: types.NamespacedName{Name: p.key.Namespace}}},
	}

	p.removal.ProvedAt = r.clock.Now()
	err := r.state.Shared.Checker.Prove(ctx, removal)

	switch {
	case errors.Is(err, freshness.ErrObjectChanged), errors.Is(err, freshness.ErrViewChanged):
		return false, errChanged
	case err != nil:
		p.writes.held = fmt.Sprintf("nothing is withdrawn until the hub is known to have the latest state: %v", err)
		lost.Allowed = nil

		return false, nil
	}

	proved := r.decisionsProved(ctx, p)
	if !proved {
		lost.OnlyScope() // The decisions of a Placement say nothing about the others.
	}

	return proved, nil
}

// decisionsProved reports whether the decisions that the object follows are those of the API server.
func (r *reconciler) decisionsProved(ctx context.Context, p *cycle) bool {
	if p.Target.Placement == "" || p.State != federation.Delivering {
		return true
	}

	live := decisionsOf(ctx, r.live, types.NamespacedName{Namespace: p.key.Namespace, Name: p.Target.Placement})

	switch {
	case live.err != nil:
		p.writes.held = "nothing is withdrawn until the decisions can be read: " + live.err.Error()
	case live.Problem != "" || live.versions() != p.followed.versions():
		p.writes.held = "nothing is withdrawn until the watch has shown the latest decisions"
	default:
		return true
	}

	return false
}

// withdraw deletes the work of a cluster.
func (r *reconciler) withdraw(ctx context.Context, p *cycle, cluster string) error {
	if err := r.deleteWork(ctx, p, cluster); err != nil {
		return err
	}

	p.writes.mu.Lock()
	defer p.writes.mu.Unlock()

	p.writes.withdrawn = append(p.writes.withdrawn, cluster)

	return nil
}
