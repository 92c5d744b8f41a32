package freshness

import (
	"context"
	"fmt"
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
	// listMaxAge is how long further proofs may use a list of a whole resource.
	listMaxAge = time.Second
)

// reader reads metadata consistently. Concurrent callers with the same request share it if it was sent after each of them called. It is
// safe for concurrent use.
type reader struct {
	client metadata.Interface
	limit  chan struct{}
	// view returns the number of the last change of the view.
	view func() uint64

	mu sync.Mutex
	// pending has the requests that have not been sent, and running those without a response.
	pending, running map[request]*reading
	lists            map[schema.GroupVersionResource]*reading
}

// request is a GET of an object or, without a name, a LIST of the resource in a namespace or in all.
type request struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

// reading is the response to a request once done is closed.
type reading struct {
	done    chan struct{}
	objects map[types.NamespacedName]metav1.ObjectMeta
	err     error
	// view is the number of the last change of the view when the request was sent; ended is when the response came.
	view  uint64
	ended time.Time
}

func newReader(client metadata.Interface, view func() uint64) *reader {
	return &reader{
		client: client, limit: make(chan struct{}, concurrentReads), view: view,
		pending: map[request]*reading{}, running: map[request]*reading{}, lists: map[schema.GroupVersionResource]*reading{},
	}
}

// object reads the metadata of an object; found is false if it does not exist.
func (r *reader) object(ctx context.Context, object Object) (meta metav1.ObjectMeta, found bool, err error) {
	answer, err := r.read(ctx, request{resource: object.Resource, namespace: object.Namespace, name: object.Name})
	if err != nil {
		return metav1.ObjectMeta{}, false, err
	}

	meta, found = answer.objects[object.NamespacedName]

	return meta, found, nil
}

// list reads the metadata of all objects of a resource in a namespace, or in all for "".
func (r *reader) list(
	ctx context.Context, resource schema.GroupVersionResource, namespace string,
) (map[types.NamespacedName]metav1.ObjectMeta, error) {
	answer, err := r.read(ctx, request{resource: resource, namespace: namespace})
	if err != nil {
		return nil, err
	}

	return answer.objects, nil
}

// recentList returns a list of a whole resource that is at most listMaxAge old and was sent at or after a change of the view; nil if there
// is none.
func (r *reader) recentList(resource schema.GroupVersionResource, view uint64) map[types.NamespacedName]metav1.ObjectMeta {
	r.mu.Lock()
	defer r.mu.Unlock()

	last := r.lists[resource]
	if last == nil || last.view < view || time.Since(last.ended) > listMaxAge {
		return nil
	}

	return last.objects
}

func (r *reader) read(ctx context.Context, what request) (*reading, error) {
	r.mu.Lock()

	answer := r.pending[what]
	if answer == nil {
		answer = &reading{done: make(chan struct{})}
		r.pending[what] = answer

		go r.run(context.WithoutCancel(ctx), what, answer, r.running[what]) // Other callers may still wait when ctx ends.
	}

	r.mu.Unlock()

	select {
	case <-answer.done:
		return answer, answer.err
	case <-ctx.Done():
		return nil, fmt.Errorf("reading %s: %w", what.resource.Resource, ctx.Err())
	}
}

// run sends a request after the previous equal request has a response.
func (r *reader) run(ctx context.Context, what request, answer, before *reading) {
	if before != nil {
		<-before.done
	}

	r.limit <- struct{}{}

	r.mu.Lock()
	delete(r.pending, what) // Later callers need a later request.
	r.running[what], answer.view = answer, r.view()
	r.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	answer.objects, answer.err = r.send(ctx, what)
	answer.ended = time.Now()

	cancel()
	<-r.limit

	r.mu.Lock()
	defer r.mu.Unlock()

	if r.running[what] == answer {
		delete(r.running, what)
	}

	if answer.err == nil && what.namespace == "" && what.name == "" {
		r.lists[what.resource] = answer
		time.AfterFunc(listMaxAge, func() { r.expire(what.resource, answer) })
	}

	close(answer.done)
}

// expire drops a list that is older than listMaxAge.
func (r *reader) expire(resource schema.GroupVersionResource, list *reading) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.lists[resource] == list {
		delete(r.lists, resource)
	}
}

// send sends a request without a resourceVersion, which makes a GET a quorum read and a LIST consistent.
func (r *reader) send(ctx context.Context, what request) (map[types.NamespacedName]metav1.ObjectMeta, error) {
	objects := map[types.NamespacedName]metav1.ObjectMeta{}
	client := r.client.Resource(what.resource).Namespace(what.namespace)

	if what.name != "" {
		object, err := client.Get(ctx, what.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return objects, nil
		}

		if err != nil {
			return nil, fmt.Errorf("reading the metadata of %s %s: %w", what.resource.Resource, nameOf(what.namespace, what.name), err)
		}

		objects[types.NamespacedName{Namespace: what.namespace, Name: what.name}] = trimmed(object)

		return objects, nil
	}

	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the metadata of %s: %w", what.resource.Resource, err)
	}

	for i := range list.Items {
		objects[types.NamespacedName{Namespace: list.Items[i].Namespace, Name: list.Items[i].Name}] = trimmed(&list.Items[i])
	}

	return objects, nil
}

// trimmed returns the metadata that is compared.
func trimmed(object *metav1.PartialObjectMetadata) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		UID: object.UID, ResourceVersion: object.ResourceVersion, Generation: object.Generation, DeletionTimestamp: object.DeletionTimestamp,
		Annotations: object.Annotations,
	}
}

func nameOf(namespace, name string) string {
	return types.NamespacedName{Namespace: namespace, Name: name}.String()
}
