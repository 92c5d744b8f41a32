package freshness

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Object names an object of the hub.
type Object struct {
	types.NamespacedName

	Resource schema.GroupVersionResource
}

// Observed has the resourceVersions of the objects that the event handlers have processed. It is safe for concurrent use.
type Observed struct {
	mu        sync.Mutex
	resources map[schema.GroupVersionResource]*resource
	// sequence is the number of the last change of the view.
	sequence uint64
	waiters  int
	changed  chan struct{} // closed when a version changes and waiters > 0
}

// resource has the objects of one resource by namespace; forgotten is the number of the last change that left a namespace without objects.
type resource struct {
	namespaces map[string]*namespace
	forgotten  uint64
}

// namespace has the objects of one resource in a namespace by name; changed is the number of the last change, and deleted that of the last
// deletion.
type namespace struct {
	objects          map[string]observation
	changed, deleted uint64
}

// observation is the version of an object, and the number of the change that brought it. It is settled when the event handler is done with
// it.
type observation struct {
	version string
	changed uint64
	settled bool
}

// NewObserved returns an empty Observed.
func NewObserved() *Observed {
	return &Observed{resources: map[schema.GroupVersionResource]*resource{}, changed: make(chan struct{})}
}

// Begin records that an event handler processes a version of an object; done records that the view now shows it. In between, no proof
// covers the object.
func (o *Observed) Begin(object Object, version string) (done func()) {
	o.set(object, observation{version: version})

	return func() { o.set(object, observation{version: version, settled: true}) }
}

// Delete records that the view does not show an object any more.
func (o *Observed) Delete(object Object) {
	o.mu.Lock()
	defer o.mu.Unlock()

	o.sequence++

	of := o.resources[object.Resource]
	if of == nil || of.namespaces[object.Namespace] == nil {
		return
	}

	in := of.namespaces[object.Namespace]
	in.changed, in.deleted = o.sequence, o.sequence
	delete(in.objects, object.Name)

	if len(in.objects) == 0 {
		delete(of.namespaces, object.Namespace)
		of.forgotten = o.sequence
	}

	o.notify()
}

func (o *Observed) set(object Object, is observation) {
	o.mu.Lock()
	defer o.mu.Unlock()

	o.sequence++

	of := o.resources[object.Resource]
	if of == nil {
		of = &resource{namespaces: map[string]*namespace{}}
		o.resources[object.Resource] = of
	}

	in := of.namespaces[object.Namespace]
	if in == nil {
		in = &namespace{objects: map[string]observation{}, deleted: of.forgotten}
		of.namespaces[object.Namespace] = in
	}

	is.changed = o.sequence
	in.objects[object.Name], in.changed = is, is.changed

	if is.settled {
		o.notify()
	}
}

// notify makes the callers of wait check the versions again.
func (o *Observed) notify() {
	if o.waiters > 0 {
		close(o.changed)
		o.changed = make(chan struct{})
	}
}

func (o *Observed) get(object Object) observation {
	of := o.resources[object.Resource]
	if of == nil || of.namespaces[object.Namespace] == nil {
		return observation{}
	}

	return of.namespaces[object.Namespace].objects[object.Name]
}

// unchangedSince reports whether the view has shown these versions since a change.
func (o *Observed) unchangedSince(versions map[Object]string, change uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	for object, version := range versions {
		is := o.get(object)
		if is.version != version || is.settled != (version != "") || is.changed > change || version == "" && o.lastDeletion(object) > change {
			return false
		}
	}

	return true
}

// lastDeletion returns the number of the last deletion in the resource and namespace of an object.
func (o *Observed) lastDeletion(object Object) uint64 {
	of := o.resources[object.Resource]
	if of == nil {
		return 0
	}

	if in := of.namespaces[object.Namespace]; in != nil {
		return in.deleted
	}

	return of.forgotten
}

// Now returns the number of the last change of the view.
func (o *Observed) Now() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.sequence
}

// changedAt returns the number of the change that brought an object to its version; 0 if the view does not show it.
func (o *Observed) changedAt(object Object) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.get(object).changed
}

// lastChange returns the number of the last change of a resource in a namespace, or a later number.
func (o *Observed) lastChange(resource schema.GroupVersionResource, namespace string) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()

	of := o.resources[resource]
	if of == nil {
		return 0
	}

	if in := of.namespaces[namespace]; in != nil {
		return in.changed
	}

	return of.forgotten
}

// shows reports whether the view shows exactly this version of an object; "" means that it does not show the object.
func (o *Observed) shows(object Object, version string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	is := o.get(object)

	return is.version == version && is.settled == (version != "")
}

// showsAll reports whether the view shows exactly these versions.
func (o *Observed) showsAll(versions map[Object]string) bool {
	for object, version := range versions {
		if !o.shows(object, version) {
			return false
		}
	}

	return true
}

// reached reports whether the view shows an object in a version or a later one; with "" it reports whether the object is gone.
func (o *Observed) reached(object Object, version string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	is := o.get(object)
	if version == "" || is.version == "" {
		return is.version == version
	}

	order, err := resourceversion.CompareResourceVersion(is.version, version)

	return err == nil && order >= 0 && is.settled
}

// objects returns the objects of a resource in a namespace, or in all for "", in any order.
func (o *Observed) objects(resource schema.GroupVersionResource, namespace string) []Object {
	o.mu.Lock()
	defer o.mu.Unlock()

	of := o.resources[resource]
	if of == nil {
		return nil
	}

	var objects []Object

	for name, in := range of.namespaces {
		if namespace != "" && namespace != name {
			continue
		}

		for object := range in.objects {
			objects = append(objects, Object{Resource: resource, NamespacedName: types.NamespacedName{Namespace: name, Name: object}})
		}
	}

	return objects
}

// wait returns when the view has reached all versions, or when ctx ends; it returns the objects that the view has not reached.
func (o *Observed) wait(ctx context.Context, versions map[Object]string) (behind []Object) {
	o.mu.Lock()
	o.waiters++
	o.mu.Unlock()

	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()

		o.waiters--
	}()

	for {
		o.mu.Lock()
		changed := o.changed
		o.mu.Unlock()

		behind = behind[:0]

		for object, version := range versions {
			if !o.reached(object, version) {
				behind = append(behind, object)
			}
		}

		if len(behind) == 0 {
			return nil
		}

		select {
		case <-changed:
		case <-ctx.Done():
			return behind
		}
	}
}
