// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"fmt"
	"iter"
	"maps"
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
	// readTimeout bounds one request, and listTimeout all pages of a list.
	readTimeout = 5 * time.Second
	listTimeout = 10 * time.Second
	// pageSize is the number of objects that are listed by one request. The metadata of as many ManagedClusters are 4 MB, which take 200 ms; in
	// one response those of 50,000 take longer than readTimeout, and longer than in pages.
	pageSize = 2000
	// concurrentReads bounds the number of open requests. It leaves each of the default workers some, because a list can wait for 100 ms in the
	// API server. Their rate is unlimited: a removal must not wait for it, and the API server has priority and fairness.
	concurrentReads = 128
	// readingMaxAge is how long after it was sent a request may serve further proofs. A list whose response takes longer may serve those to which
	// every cluster counts for twice that time, but not beyond listTimeout: the proofs that wait for it use it at that age, too.
	readingMaxAge = time.Second
	// gatheringPerObject is how long the reader waits for each object before it sends a list of several pages, and maxGathering bounds the wait. It
	// is a sixth of the time that the list takes. Removals by bindings that a user creates in many namespaces then share the list.
	gatheringPerObject = 10 * time.Microsecond
	maxGathering       = 500 * time.Millisecond
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
	// recent has the last response to each request that may serve further proofs.
	recent map[request]*reading
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
	done chan struct{}
	// versions are those of the objects that exist. object is the metadata of the object of a GET.
	versions map[types.NamespacedName]string
	object   metav1.ObjectMeta
	err      error
	// view is the number of the last change of the view when the request was sent, which was at a time. It may serve proofs up to the age maxAge.
	view   uint64
	at     time.Time
	maxAge time.Duration
	// gone are the objects that the view showed when a list was sent, and that the list lacks. Those that it shows later are changes.
	gone []Object
	// reached is set once the view has reached every version of a list of all, and shows no object that the list lacks. The mutex is held while they
	// are compared, which one of the proofs that use the list does for all.
	mu      sync.Mutex
	reached bool
}

// serves reports whether a request serves a further proof, if it was sent and not before the oldest that does.
func (r *reading) serves(oldest oldest) bool {
	if r == nil || r.view < oldest.change {
		return false
	}
	age := time.Since(r.at)
	return age < readingMaxAge || oldest.slow && age < r.maxAge
}

// setGone sets the objects that the list lacks, of those that the view showed when it was sent.
func (r *reading) setGone(shown []Object) {
	for _, object := range shown {
		if _, listed := r.versions[object.NamespacedName]; !listed {
			r.gone = append(r.gone, object)
		}
	}
}

// all iterates over the versions of the objects of a list, and over those that the view showed and the list lacks, which have the version "".
func (r *reading) all(resource schema.GroupVersionResource) iter.Seq2[Object, string] {
	return func(yield func(Object, string) bool) {
		for _, object := range r.gone {
			if !yield(object, "") {
				return
			}
		}
		for name, version := range r.versions {
			if !yield(Object{Resource: resource, NamespacedName: name}, version) {
				return
			}
		}
	}
}

// isReached reports whether the view has reached every version of a list of all, and shows no object that the list lacks. A change of the view after
// the request of the list may have made it so.
func (r *reading) isReached(resource schema.GroupVersionResource, observed *Observed) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reached {
		r.reached = len(observed.behind(r.all(resource), r.view)) == 0
	}
	return r.reached
}

func newReader(client metadata.Interface, observed *Observed, history *history) *reader {
	return &reader{
		client: client, limit: make(chan struct{}, concurrentReads), observed: observed, history: history,
		pending: map[request]*reading{}, running: map[request]*reading{}, recent: map[request]*reading{},
	}
}

// oldest is the oldest request that serves a proof: one that was not sent before the change of the view with a number. If slow is true, a list
// serves for longer than readingMaxAge if its response takes longer.
type oldest struct {
	change uint64
	slow   bool
}

// noEarlier is for callers that no earlier request serves.
const noEarlier = math.MaxUint64

// firstView returns the number of a change of the view. No request that was sent before that change serves a proof any more.
func (r *reader) firstView() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.observed.Now()
	for _, serving := range []map[request]*reading{r.running, r.recent} {
		for _, sent := range serving {
			first = min(first, sent.view)
		}
	}
	return first
}

// read returns the response to a request that is sent after the call, or to an earlier one that serves. Such a request that fails is sent again.
func (r *reader) read(ctx context.Context, what request, earliest oldest) (*reading, error) {
	read, joined := r.reading(ctx, what, earliest)
	select {
	case <-read.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("reading %s: %w", what.resource.Resource, ctx.Err())
	}
	if read.err != nil && joined {
		return r.read(ctx, what, oldest{change: noEarlier})
	}
	return read, read.err
}

// has reports whether there is a response that serves.
func (r *reader) has(what request, earliest oldest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recent[what].serves(earliest)
}

// reading returns an earlier request that serves, or one that was not sent yet.
func (r *reader) reading(ctx context.Context, what request, earliest oldest) (read *reading, joined bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, sent := range []*reading{r.recent[what], r.running[what]} {
		if sent.serves(earliest) {
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

// run sends a request after the previous equal request has a response. A long list waits for further proofs first.
func (r *reader) run(ctx context.Context, what request, read, before *reading) {
	begin := time.Now()
	if before != nil {
		<-before.done
	}
	<-time.After(r.gathering(what) - time.Since(begin))
	r.limit <- struct{}{}
	r.mu.Lock()
	delete(r.pending, what) // Later callers need a later request, unless this one serves them.
	r.running[what], read.view, read.at, read.maxAge = read, r.observed.Now(), time.Now(), listTimeout
	r.mu.Unlock()

	if what.name == "" {
		read.err = r.list(ctx, what, read)
	} else {
		read.err = r.get(ctx, what, read)
	}
	<-r.limit

	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, what)
	if read.err == nil {
		r.recent[what] = read
		took := time.Since(read.at)
		read.maxAge = min(max(readingMaxAge, took+took), listTimeout)
		time.AfterFunc(read.maxAge-took, func() { r.expire(what, read) })
	}
	close(read.done)
}

// gathering returns how long a request waits for further proofs before it is sent: not at all, unless it is for a list of all that has several pages.
func (r *reader) gathering(what request) time.Duration {
	objects := 0
	if what == (request{resource: what.resource}) {
		objects = r.observed.count(what.resource)
	}
	if objects <= pageSize {
		return 0
	}
	return min(time.Duration(objects)*gatheringPerObject, maxGathering)
}

// expire drops a response that serves no further proofs.
func (r *reader) expire(what request, read *reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recent[what] == read {
		delete(r.recent, what)
	}
}

// list reads the versions of all objects of one moment, without a resourceVersion, which makes it consistent.
func (r *reader) list(ctx context.Context, what request, into *reading) error {
	shown := r.observed.objects(what.resource, what.namespace)
	into.versions = make(map[types.NamespacedName]string, len(shown))
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	for page, err := range r.pages(ctx, what.resource, what.namespace) {
		if err != nil {
			return err
		}
		maps.Copy(into.versions, page)
	}
	into.setGone(shown)
	return nil
}

// get reads an object by quorum: a GET without a resourceVersion.
func (r *reader) get(ctx context.Context, what request, into *reading) error {
	named := types.NamespacedName{Namespace: what.namespace, Name: what.name}
	bound := r.observed.shown(Object{Resource: what.resource, NamespacedName: named})
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	object, err := r.client.Resource(what.resource).Namespace(what.namespace).Get(ctx, what.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return r.history.check("", "")
	}
	if err != nil {
		return fmt.Errorf("reading the metadata of %s %s: %w", what.resource.Resource, named, err)
	}
	into.versions, into.object = map[types.NamespacedName]string{named: object.ResourceVersion}, trimmed(object)
	return r.history.check(bound, object.ResourceVersion)
}

// pages lists the versions of the objects of a resource in a namespace, or in all for "", by page. All pages show the moment of the first one.
// It ends after an error.
func (r *reader) pages(
	ctx context.Context, resource schema.GroupVersionResource, namespace string,
) iter.Seq2[map[types.NamespacedName]string, error] {
	return func(yield func(map[types.NamespacedName]string, error) bool) {
		options := metav1.ListOptions{Limit: pageSize}
		for more := true; more; more = options.Continue != "" {
			page, err := r.page(ctx, resource, namespace, options)
			if err != nil {
				yield(nil, err)
				return
			}
			options.Continue = page.Continue
			if !yield(listedVersions(page), nil) {
				return
			}
		}
	}
}

// page requests a part of a resource in a namespace, or in all for "".
func (r *reader) page(
	ctx context.Context, resource schema.GroupVersionResource, namespace string, options metav1.ListOptions,
) (*metav1.PartialObjectMetadataList, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	bound := ""
	if options.Continue == "" { // Further pages show the moment of the first one.
		bound = r.history.before(resource)
	}
	list, err := r.client.Resource(resource).Namespace(namespace).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("listing the metadata of %s: %w", resource.Resource, err)
	}

	r.history.listed(resource, list.ResourceVersion)
	return list, r.history.check(bound, list.ResourceVersion)
}

// listedVersions returns the versions of the objects of a list by their names.
func listedVersions(list *metav1.PartialObjectMetadataList) map[types.NamespacedName]string {
	versions := make(map[types.NamespacedName]string, len(list.Items))
	for i := range list.Items {
		versions[types.NamespacedName{Namespace: list.Items[i].Namespace, Name: list.Items[i].Name}] = list.Items[i].ResourceVersion
	}
	return versions
}

// trimmed returns the metadata that is compared.
func trimmed(object *metav1.PartialObjectMetadata) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		UID: object.UID, ResourceVersion: object.ResourceVersion, Generation: object.Generation, DeletionTimestamp: object.DeletionTimestamp,
		Annotations: object.Annotations,
	}
}
