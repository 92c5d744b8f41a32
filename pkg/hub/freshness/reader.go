// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
)

const (
	// readTimeout bounds one request.
	readTimeout = 5 * time.Second
	// concurrentReads bounds the number of open requests. It leaves each of the default workers some, because a list can wait for 100 ms in the
	// API server. Their rate is unlimited: a removal must not wait for it, and the API server has priority and fairness.
	concurrentReads = 128
	// readingMaxAge is how long after it was sent a request may serve further proofs.
	readingMaxAge = time.Second
)

// reader reads metadata consistently. Callers with the same request share it if it was sent after each of them called, or not before what the
// caller says. It is safe for concurrent use.
type reader struct {
	client metadata.Interface
	limit  chan struct{}
	// observed is the view, and history has the versions that were read before.
	observed *Observed
	history  *history

	mu sync.Mutex
	// pending has the requests that have not been sent, and running those without a response.
	pending, running map[request]*reading
	// recent has the last response to each request that was sent less than readingMaxAge ago. expired is the highest view of those that were dropped.
	recent  map[request]*reading
	expired uint64
}

// request is a GET of an object or, without a name, a LIST of the resource in a namespace or in all.
type request struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

func requestOf(object Object) request {
	return request{resource: object.Resource, namespace: object.Namespace, name: object.Name}
}

// reading is the response to a request once done is closed.
type reading struct {
	done    chan struct{}
	objects map[types.NamespacedName]metav1.ObjectMeta
	err     error
	// view is the number of the last change of the view when the request was sent, which was at a time.
	view uint64
	at   time.Time
	// shown are the objects of the view when a list was sent. Those that it shows later are changes.
	shown []Object
	// reached is set once the view has reached every version of a list of all, and shows no object that the list lacks. The mutex is held while they
	// are compared, which one of the proofs that use the list does for all.
	mu      sync.Mutex
	reached bool
}

// versions returns the versions of the objects of a list, and of those that the view showed and the list lacks.
func (r *reading) versions(resource schema.GroupVersionResource) map[Object]string {
	return listVersions(resource, r.objects, r.shown)
}

// isReached reports whether the view has reached every version of a list of all, and shows no object that the list lacks. A change of the view after
// the request of the list may have made it so.
func (r *reading) isReached(resource schema.GroupVersionResource, observed *Observed) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reached {
		r.reached = len(observed.behind(r.versions(resource), r.view)) == 0
	}
	return r.reached
}

func newReader(client metadata.Interface, observed *Observed, history *history) *reader {
	return &reader{
		client: client, limit: make(chan struct{}, concurrentReads), observed: observed, history: history,
		pending: map[request]*reading{}, running: map[request]*reading{}, recent: map[request]*reading{},
	}
}

// noEarlier is for callers that no earlier request serves.
const noEarlier = math.MaxUint64

// oldest returns the number of a change of the view. No request that was sent before that change serves a proof any more.
func (r *reader) oldest() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.running)+len(r.recent) == 0 {
		r.expired = r.observed.Now()
	}
	return r.expired
}

// read returns the response to a request that is sent after the call, or that was sent less than readingMaxAge ago and not before the change of
// the view with the number earliest. Such a request that fails is sent again.
func (r *reader) read(ctx context.Context, what request, earliest uint64) (*reading, error) {
	read, joined := r.reading(ctx, what, earliest)
	select {
	case <-read.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("reading %s: %w", what.resource.Resource, ctx.Err())
	}
	if read.err != nil && joined {
		return r.read(ctx, what, noEarlier)
	}
	return read, read.err
}

// reading returns an earlier request that serves, or one that was not sent yet.
func (r *reader) reading(ctx context.Context, what request, earliest uint64) (read *reading, joined bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, sent := range []*reading{r.recent[what], r.running[what]} {
		if sent != nil && sent.view >= earliest && time.Since(sent.at) < readingMaxAge {
			return sent, true
		}
	}
	if read = r.pending[what]; read == nil {
		read = &reading{done: make(chan struct{})}
		r.pending[what] = read
		go r.run(context.WithoutCancel(ctx), what, read, r.running[what]) // Other callers may still wait when ctx ends.
	}
	return read, false
}

// run sends a request after the previous equal request has a response.
func (r *reader) run(ctx context.Context, what request, read, before *reading) {
	if before != nil {
		<-before.done
	}
	r.limit <- struct{}{}
	r.mu.Lock()
	delete(r.pending, what) // Later callers need a later request, unless this one serves them.
	r.running[what], read.view, read.at = read, r.observed.Now(), time.Now()
	r.mu.Unlock()

	if what.name == "" {
		read.shown = r.observed.objects(what.resource, what.namespace)
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	read.objects, read.err = r.send(ctx, what)
	cancel()
	<-r.limit

	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, what)
	if read.err == nil {
		r.recent[what] = read
		time.AfterFunc(readingMaxAge-time.Since(read.at), func() { r.expire(what, read) })
	}
	close(read.done)
}

// expire drops a response whose request was sent before readingMaxAge.
func (r *reader) expire(what request, read *reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expired = max(r.expired, read.view)
	if r.recent[what] == read {
		delete(r.recent, what)
	}
}

// send sends a request without a resourceVersion, which makes a GET a quorum read and a LIST consistent.
func (r *reader) send(ctx context.Context, what request) (map[types.NamespacedName]metav1.ObjectMeta, error) {
	if what.name != "" {
		return r.get(ctx, what)
	}
	bound := r.history.before(what.resource)
	list, err := r.client.Resource(what.resource).Namespace(what.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the metadata of %s: %w", what.resource.Resource, err)
	}
	r.history.listed(what.resource, list.ResourceVersion)
	return byName(list), r.history.check(bound, list.ResourceVersion)
}

func (r *reader) get(ctx context.Context, what request) (map[types.NamespacedName]metav1.ObjectMeta, error) {
	named := types.NamespacedName{Namespace: what.namespace, Name: what.name}
	bound := r.observed.shown(Object{Resource: what.resource, NamespacedName: named})
	object, err := r.client.Resource(what.resource).Namespace(what.namespace).Get(ctx, what.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, r.history.check("", "")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of %s %s: %w", what.resource.Resource, named, err)
	}
	return map[types.NamespacedName]metav1.ObjectMeta{named: trimmed(object)}, r.history.check(bound, object.ResourceVersion)
}

// page requests a part of a whole resource. Nothing is shared with other requests.
func (r *reader) page(
	ctx context.Context, resource schema.GroupVersionResource, options metav1.ListOptions,
) (*metav1.PartialObjectMetadataList, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	bound := ""
	if options.Continue == "" { // Further pages show the moment of the first one.
		bound = r.history.before(resource)
	}
	list, err := r.client.Resource(resource).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("listing the metadata of %s: %w", resource.Resource, err)
	}

	r.history.listed(resource, list.ResourceVersion)
	return list, r.history.check(bound, list.ResourceVersion)
}

// byName returns the metadata of the objects of a list by their names.
func byName(list *metav1.PartialObjectMetadataList) map[types.NamespacedName]metav1.ObjectMeta {
	objects := make(map[types.NamespacedName]metav1.ObjectMeta, len(list.Items))
	for i := range list.Items {
		objects[types.NamespacedName{Namespace: list.Items[i].Namespace, Name: list.Items[i].Name}] = trimmed(&list.Items[i])
	}
	return objects
}

// trimmed returns the metadata that is compared.
func trimmed(object *metav1.PartialObjectMetadata) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		UID: object.UID, ResourceVersion: object.ResourceVersion, Generation: object.Generation, DeletionTimestamp: object.DeletionTimestamp,
		Annotations: object.Annotations,
	}
}
