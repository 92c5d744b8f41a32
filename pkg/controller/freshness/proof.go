package freshness

import (
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/unreadable"
)

// Proof has the versions of objects that both the API server and the view have shown. A nil Proof covers nothing.
type Proof struct {
	observed *Observed
	// object is the metadata of the object of the removal as it was read, if found is true.
	object metav1.ObjectMeta
	found  bool

	mu sync.Mutex // for what is read at the same time
	// versions are those of the other objects; "" for an object that does not exist.
	versions map[Object]string
}

// Covers reports whether the view shows exactly the versions of the proof for all objects that decide about a removal.
func (p *Proof) Covers(removal Removal) bool {
	if p == nil || !p.isFor(removal) {
		return false
	}

	objects := append(removal.sets(namesOf(p.observed.objects(Bindings, removal.Object.Namespace))), removal.Others...)
	for _, name := range removal.Clusters {
		objects = append(objects, clusterObject(name))

		if removal.Scores {
			objects = append(objects, p.observed.objects(Scores, name)...)
		}
	}

	return !slices.ContainsFunc(objects, func(object Object) bool { return !p.has(object) }) && p.observed.showsAll(p.versions)
}

// UnchangedSince reports whether the view has shown the versions of the proof since a change, so that a snapshot between the change and the
// proof has them too. The generation of an inventory says nothing of Removal.Others, which it does not have.
func (p *Proof) UnchangedSince(change uint64) bool {
	return p.observed.unchangedSince(p.versions, change)
}

// isFor reports whether the object is as it was evaluated. Its status and labels do not count, nor does the mark of unreadable fields, which
// only objects in the memory of the hub have.
func (p *Proof) isFor(removal Removal) bool {
	evaluated, annotations := removal.Meta, p.object.Annotations
	if removal.Annotations != nil {
		annotations = removal.Annotations(annotations)
	}

	return p.found && p.object.UID == evaluated.UID && p.object.Generation == evaluated.Generation &&
		(p.object.DeletionTimestamp == nil) == (evaluated.DeletionTimestamp == nil) &&
		maps.Equal(unreadable.WithoutMark(annotations), unreadable.WithoutMark(evaluated.Annotations))
}

// has reports whether the proof has a version of an object.
func (p *Proof) has(object Object) bool {
	_, read := p.versions[object]

	return read
}

// add adds an object with its version.
func (p *Proof) add(object Object, version string) { p.addAll(map[Object]string{object: version}) }

// addAll adds objects with their versions.
func (p *Proof) addAll(versions map[Object]string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	maps.Copy(p.versions, versions)
}

// addList adds the objects of a list, and those that the view shows and the list lacks.
func (p *Proof) addList(resource schema.GroupVersionResource, list map[types.NamespacedName]metav1.ObjectMeta, shown []Object) {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, object := range shown {
		p.versions[object] = ""
	}

	for name, meta := range list {
		p.versions[Object{Resource: resource, NamespacedName: name}] = meta.ResourceVersion
	}
}
