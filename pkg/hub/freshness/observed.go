// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"iter"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
)

// rememberedChanges is the number of the last changes of the view that are remembered. A proof that lasts longer than these is made again.
const rememberedChanges = 8192

// Object names an object of the hub.
type Object struct {
	types.NamespacedName

	Resource schema.GroupVersionResource
}

// Observed has the resourceVersions of the objects that the event handlers have processed, and the last changes that these versions brought. It
// is safe for concurrent use.
type Observed struct {
	mu        sync.Mutex
	resources map[schema.GroupVersionResource]*resource
	// changes has the last changes of the view and grows up to rememberedChanges, which then replace the oldest. last is the number of the last
	// one.
	changes []change
	last    uint64
	// deletions has the number of the last deletion of an object among the remembered changes.
	deletions map[Object]uint64
	// changing has the objects whose events are being handled: the view may show them, and their changes are not recorded yet. Each has a number, in
	// the order in which the handling began, and began is the last one.
	changing map[Object]uint64
	began    uint64
	waiters  int
	updated  chan struct{} // closed when a version changes and waiters > 0
}

// resource has the versions of the objects of one resource by namespace and name, and the highest version that was processed.
type resource struct {
	versions map[string]map[string]string
	highest  string
}

// change is a change of what an object says. Properties are those of a cluster that have changed; the property Name stands for all.
type change struct {
	object     Object
	properties []clusterinfo.Property
	deleted    bool
}

// everything is the changed property of an object of which nothing more is known.
func everything(object Object) []clusterinfo.Property {
	return []clusterinfo.Property{{Kind: clusterinfo.Name, Name: object.Name}}
}

// NewObserved returns an empty Observed.
func NewObserved() *Observed {
	return &Observed{
		resources: map[schema.GroupVersionResource]*resource{}, deletions: map[Object]uint64{}, changing: map[Object]uint64{},
		updated: make(chan struct{}),
	}
}

// Changing records that the view is about to show an event of an object. Set or Delete ends that.
func (o *Observed) Changing(object Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.began++
	o.changing[object] = o.began
}

// Set records that the view shows a version of an object, and which properties it has changed, as inventory.Affected has them. It must be
// called after the view was changed.
func (o *Observed) Set(object Object, version string, properties []clusterinfo.Property) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.changing, object)
	of := o.resources[object.Resource]
	if of == nil {
		of = &resource{versions: map[string]map[string]string{}}
		o.resources[object.Resource] = of
	}

	in := of.versions[object.Namespace]
	if in == nil {
		in = map[string]string{}
		of.versions[object.Namespace] = in
	}
	in[object.Name] = version
	if compareVersions(version, of.highest) > 0 {
		of.highest = version
	}

	if len(properties) > 0 {
		o.record(change{object: object, properties: properties})
	}
	o.notify()
}

// Drop records that the view shows no object of a resource any more, because nothing watches the resource.
func (o *Observed) Drop(resource schema.GroupVersionResource) {
	for _, object := range o.objects(resource, "") {
		o.Delete(object)
	}
}

// Delete records that the view does not show an object any more. It must be called after the view was changed.
func (o *Observed) Delete(object Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.changing, object)
	if of := o.resources[object.Resource]; of != nil {
		delete(of.versions[object.Namespace], object.Name)
		if len(of.versions[object.Namespace]) == 0 {
			delete(of.versions, object.Namespace)
		}
	}
	o.record(change{object: object, properties: everything(object), deleted: true})
	o.notify()
}

func (o *Observed) record(is change) {
	o.last++
	if len(o.changes) < rememberedChanges {
		o.changes = append(o.changes, is)
	} else {
		oldest := &o.changes[place(o.last)]
		if forgotten := o.last - rememberedChanges; oldest.deleted && o.deletions[oldest.object] == forgotten {
			delete(o.deletions, oldest.object)
		}
		*oldest = is
	}
	if is.deleted {
		o.deletions[is.object] = o.last
	}
}

// place returns where the change with a number is remembered; the first one has number 1.
func place(number uint64) uint64 { return (number - 1) % rememberedChanges }

// notify makes the callers of wait check the versions again.
func (o *Observed) notify() {
	if o.waiters > 0 {
		close(o.updated)
		o.updated = make(chan struct{})
	}
}

// Now returns the number of the last change of the view.
func (o *Observed) Now() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// version returns the version of an object that the view shows, or "".
func (o *Observed) version(object Object) string {
	if of := o.resources[object.Resource]; of != nil {
		return of.versions[object.Namespace][object.Name]
	}
	return ""
}

// changedSince reports whether one of the changes after a number concerns the caller, or is not remembered.
func (o *Observed) changedSince(number uint64, concerns func(change) bool) bool {
	if o.last-number > rememberedChanges {
		return true
	}
	for ; number < o.last; number++ {
		if concerns(o.changes[place(number+1)]) {
			return true
		}
	}
	return false
}

// lastChange returns the number of the last change that concerns the caller, or the given one if it is higher. A snapshot can have a change before
// it is recorded, so lastChange first waits for those that are being shown and may concern the caller. It returns false if ctx ends before.
func (o *Observed) lastChange(ctx context.Context, floor uint64, concerns func(change) bool) (number uint64, recorded bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiters++
	defer func() { o.waiters-- }()

	for began := o.began; o.isChanging(began, concerns); {
		if !o.awaitUpdate(ctx) {
			return 0, false
		}
	}

	for number = o.last; number > floor && o.last-number < rememberedChanges; number-- {
		if concerns(o.changes[place(number)]) {
			break
		}
	}
	return max(number, floor), true
}

// isChanging reports whether an event that may concern the caller is being shown since before a number.
func (o *Observed) isChanging(began uint64, concerns func(change) bool) bool {
	for object, number := range o.changing {
		if number <= began && concerns(change{object: object, properties: everything(object)}) {
			return true
		}
	}
	return false
}

// reached reports whether the view shows an object in a version or a later one, or has shown its deletion after the change of a number. With
// "" it reports whether the view lacks the object.
func (o *Observed) reached(object Object, version string, since uint64) bool {
	is := o.version(object)
	switch {
	case version == "" || is != "":
		return compareVersions(is, version) >= 0 && (version != "" || is == "")
	case o.last-since > rememberedChanges:
		return false
	default:
		return o.deletions[object] > since
	}
}

// highest returns the highest version of a resource that was processed, or "".
func (o *Observed) highest(of schema.GroupVersionResource) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.resources[of]; known != nil {
		return known.highest
	}
	return ""
}

// shown returns the version of an object that the view shows, or "".
func (o *Observed) shown(object Object) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.version(object)
}

// objects returns the objects of a resource in a namespace, or in all for "", in any order.
func (o *Observed) objects(of schema.GroupVersionResource, namespace string) []Object {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.resources[of]
	if known == nil {
		return nil
	}
	in := known.versions
	if namespace != "" {
		in = map[string]map[string]string{namespace: known.versions[namespace]}
	}
	var objects []Object

	for name, versions := range in {
		for object := range versions {
			objects = append(objects, Object{Resource: of, NamespacedName: types.NamespacedName{Namespace: name, Name: object}})
		}
	}
	return objects
}

// count returns the number of objects of a resource.
func (o *Observed) count(of schema.GroupVersionResource) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	count := 0
	if known := o.resources[of]; known != nil {
		for _, in := range known.versions {
			count += len(in)
		}
	}
	return count
}

// behind returns the objects whose versions the view has not reached: see reached.
func (o *Observed) behind(versions iter.Seq2[Object, string], since uint64) (behind []Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for object, version := range versions {
		if !o.reached(object, version, since) {
			behind = append(behind, object)
		}
	}
	return behind
}

// wait returns when the view has reached all versions, when a change since a number concerns the caller, or when ctx ends. It returns the
// objects that the view has not reached, and whether there was such a change.
func (o *Observed) wait(
	ctx context.Context, versions map[Object]string, since uint64, concerns func(change) bool,
) (behind []Object, changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiters++
	defer func() { o.waiters-- }()
	for object := range versions {
		behind = append(behind, object)
	}

	checked := since // the changes up to it do not concern the caller
	for {
		behind = slices.DeleteFunc(behind, func(object Object) bool { return o.reached(object, versions[object], since) })
		if o.last-since > rememberedChanges { // Deletions may be forgotten.
			return behind, true
		}
		if changed = o.changedSince(checked, concerns); changed || len(behind) == 0 {
			return behind, changed
		}
		checked = o.last
		if !o.awaitUpdate(ctx) {
			return behind, o.changedSince(checked, concerns)
		}
	}
}

// awaitUpdate releases the mutex until a version changes, and reports whether one has before ctx ended. The caller is one of the waiters.
func (o *Observed) awaitUpdate(ctx context.Context) bool {
	updated := o.updated
	o.mu.Unlock()
	defer o.mu.Lock()
	select {
	case <-updated:
		return true
	case <-ctx.Done():
		return false
	}
}

// compareVersions orders versions; "" and what is no version come first.
func compareVersions(a, b string) int {
	order, ordered := consistency.Compare(a, b)
	switch {
	case a == b:
		return 0
	case ordered:
		return order
	case a == "":
		return -1
	default:
		return 1
	}
}
