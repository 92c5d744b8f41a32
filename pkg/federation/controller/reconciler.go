package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

const (
	// conflictRetry is how often a work is written again whose name is taken by a work that is not the hub's, whose end no event tells.
	conflictRetry = time.Minute
	// deletionRetry is how often an object that is being deleted looks for clusters that have gone.
	deletionRetry = 10 * time.Second
)

// reconciler keeps the works of objects.
type reconciler struct {
	// state is shared with the event handlers.
	state  *state
	client client.Client
	// objects is the cache of the delivered objects, and live reads from the API server.
	objects, live client.Reader
	recorder      events.EventRecorder
	clock         clock.PassiveClock
	changes       *changes
	hubNamespace  string
	// limits are Options.MaxRemovalPercent and Options.ScopeHold.
	limits    federation.Limits
	conflicts queue.ConflictBackoff[inventory.Key]
	postponed backoff
	// changed is the backoff of objects that have changed since they were evaluated, and missed that of works that cannot be created yet.
	changed, missed backoff
}

// cycle is one reconcile of an object.
type cycle struct {
	*federation.Evaluation

	key inventory.Key
	// memory is that of the object.
	memory *memory
	// payload is the content of the object; nil until it was read.
	payload *federation.Payload
	// stored are the works at the time of the evaluation.
	stored []*workv1.ManifestWork
	// namespace is the metadata of the Namespace of the object; nil if the cache has none.
	namespace *metav1.ObjectMeta
	// removal is what the writes that take the object from clusters rely on.
	removal freshness.Plan
	// shown is the number of the last change of the view before the evaluation, and followed are the decisions that it follows.
	shown    uint64
	followed decided
	writes   writes
}

// Reconcile evaluates one object and writes its works.
func (r *reconciler) Reconcile(ctx context.Context, key inventory.Key) (reconcile.Result, error) {
	if _, synced := r.state.Begin(key); !synced {
		return reconcile.Result{RequeueAfter: sharedinventory.NotSyncedDelay}, nil
	}

	r.state.Pause(key)

	again, outcome, err := r.reconcile(ctx, key)

	r.state.Resume(key)
	metrics.ObserveFederationEvaluation(outcome)

	result, err := r.conflicts.Result(ctx, key, err)
	if err != nil || result.RequeueAfter > 0 {
		return result, err
	}

	return sharedinventory.After(again), nil
}

// reconcile returns after which time to look again; zero for never.
func (r *reconciler) reconcile(ctx context.Context, key inventory.Key) (time.Duration, metrics.Outcome, error) {
	p, err := r.evaluate(ctx, key)
	if err != nil {
		return 0, metrics.Failed, err
	}

	if p == nil {
		again, err := r.gone(ctx, key)

		switch {
		case errors.Is(err, errChanged):
			return r.changed.When(key), metrics.Outdated, nil
		case err != nil:
			return 0, metrics.Failed, err
		}

		return again, metrics.Unchanged, nil
	}

	r.link(p)

	p.memory.past.OutOfScope = p.StillOutOfScope(p.memory.past.OutOfScope)

	again, err := r.carryOut(ctx, p)

	if len(p.writes.withdrawn) > 0 {
		r.link(p) // The dependencies leave after the object.
	}

	err = errors.Join(err, r.report(ctx, p, err == nil))

	switch {
	case errors.Is(err, errChanged): // The events of the change may have been handled before.
		if p.writes.count > 0 {
			r.changed.Forget(key) // What is left of the plan goes on without waiting.
		}

		return r.changed.When(key), metrics.Outdated, nil
	case err != nil:
		return 0, metrics.Failed, err
	}

	r.changed.Forget(key)

	if p.writes.count > 0 {
		return again, metrics.Changed, nil
	}

	return again, metrics.Unchanged, nil
}

// carryOut does what the evaluation says. It returns after which time to look again; zero for never.
func (r *reconciler) carryOut(ctx context.Context, p *cycle) (time.Duration, error) {
	switch p.State {
	case federation.Deleting:
		return r.delete(ctx, p)
	case federation.Delivering:
		again, err := r.deliver(ctx, p)

		return again, errors.Join(err, r.abandon(ctx, p, p.Abandoned()))
	case federation.NotDelivered:
		r.state.Shared.Inventory.Unsubscribe(p.key)
	case federation.Held, federation.Suspended:
		again, err := r.withdrawLost(ctx, p)

		return again, errors.Join(err, r.abandon(ctx, p, p.Abandoned())) // Otherwise the namespace of the cluster would not go.
	}

	return 0, nil
}

// evaluate runs the pipeline for an object; nil if the object does not exist.
func (r *reconciler) evaluate(ctx context.Context, key inventory.Key) (*cycle, error) {
	kind := r.state.kinds[key.GroupKind]
	metadata := objects.Metadata(kind.GroupVersionKind)

	err := r.objects.Get(ctx, key.NamespacedName, metadata, client.UnsafeDisableDeepCopy) // It is only read.
	if apierrors.IsNotFound(err) {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("reading %s from the cache: %w", r.state.identity(key), err)
	}

	p := &cycle{key: key, memory: r.state.memories.get(key), shown: r.state.Shared.Observed.Now()}
	object := federation.Object{Kind: kind, Meta: metadata.ObjectMeta}

	excluded, err := r.excluded(ctx, p, kind, metadata)
	if err != nil {
		return nil, err
	}

	switch {
	case excluded != "":
		object.Body = federation.Body{Excluded: excluded}
	case p.memory.version == metadata.ResourceVersion:
		object.Body = p.memory.body
	default:
		if object.Meta, err = r.read(ctx, p, kind); err != nil || p.payload == nil {
			return nil, err
		}

		object.Body = p.memory.body
	}

	view, err := r.view(ctx, p, &object)
	if err != nil {
		return nil, err
	}

	p.Evaluation = federation.Evaluate(object, view, r.clock.Now())
	p.removal = freshness.Plan{Meta: object.Meta.DeepCopy(), Annotations: federation.HubAnnotations, ProvedAt: r.clock.Now()}

	return p, nil
}

// excluded returns why an object without works is never delivered, as far as its metadata decides that, or "". Such an object, as the
// ReplicaSet of a Deployment, is not read: it can change often. The works of an object that has some count on its content.
func (r *reconciler) excluded(
	ctx context.Context, p *cycle, kind federation.Kind, metadata *metav1.PartialObjectMetadata,
) (string, error) {
	why := federation.ExcludedByMetadata(kind, metadata)
	if why == "" {
		return "", nil
	}

	works, err := r.stored(ctx, p.key)
	if err != nil || len(works) > 0 {
		return "", err
	}

	return why, nil
}

// read reads the content of an object from the API server, keeps its payload in the cycle and everything else in the memory, and returns its
// metadata. Without a payload the object does not exist.
func (r *reconciler) read(ctx context.Context, p *cycle, kind federation.Kind) (metav1.ObjectMeta, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind.GroupVersionKind)

	identity := r.state.identity(p.key)

	err := r.live.Get(ctx, p.key.NamespacedName, object)
	if absent(err) {
		return metav1.ObjectMeta{}, nil
	}

	if err != nil {
		return metav1.ObjectMeta{}, fmt.Errorf("reading %s: %w", identity, err)
	}

	body, payload := federation.BodyOf(kind, object)
	if p.payload = payload; p.memory.version != object.GetResourceVersion() {
		p.memory.version, p.memory.body, p.memory.hashes = object.GetResourceVersion(), body, nil
		p.memory.changed = problems.LastChange(object)
	}

	return metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		Generation: object.GetGeneration(), DeletionTimestamp: object.GetDeletionTimestamp(), Finalizers: object.GetFinalizers(),
		Annotations: federation.HubAnnotations(object.GetAnnotations()), OwnerReferences: object.GetOwnerReferences(),
	}, nil
}

// absent reports whether an error says that an object does not exist. An API server that does not serve the resource, of which there may be
// objects all the same, answers with another body.
func absent(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// view returns what the hub knows around an object.
func (r *reconciler) view(ctx context.Context, p *cycle, object *federation.Object) (federation.View, error) {
	works, err := r.load(ctx, p)
	if err != nil {
		return federation.View{}, err
	}

	namespace, err := r.namespace(ctx, p.key.Namespace)
	if err != nil {
		return federation.View{}, err
	}

	p.namespace = namespace

	users, err := r.users(ctx, p.key, namespace)
	if err != nil {
		return federation.View{}, err
	}

	if p.followed = r.decisions(ctx, object, namespace); p.followed.err != nil {
		return federation.View{}, p.followed.err
	}

	return federation.View{
		Compiler: r.state.Shared.Compiler, Snapshot: r.snapshot, HubNamespace: r.hubNamespace, Namespace: namespace, Works: works, Users: users,
		Unguarded: r.state.unguarded.Load(),
		Decisions: func(string) federation.Decisions { return p.followed.Decisions },
		Reached: func(d federation.Dependency) ([]string, bool) {
			return r.reached(ctx, p.key.Namespace, d)
		},
	}, nil
}

// load lists the works of the object into the cycle, and returns what of them counts.
func (r *reconciler) load(ctx context.Context, p *cycle) ([]federation.ExistingWork, error) {
	stored, err := r.stored(ctx, p.key)
	if err != nil {
		return nil, err
	}

	p.stored = stored

	return r.existing(p, stored)
}

// namespace returns the metadata of a Namespace; nil if the cache has none.
func (r *reconciler) namespace(ctx context.Context, name string) (*metav1.ObjectMeta, error) {
	return namespaceMeta(ctx, r.client, name)
}
