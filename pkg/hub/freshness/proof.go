// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// proof is what the API server has shown of the objects that decide about a removal.
type proof struct {
	removal ProofRequest
	// clusters are those of the removal.
	clusters map[string]bool
	// object is the metadata of the object of the removal, if found is true.
	object metav1.ObjectMeta
	found  bool

	// contents reports that the clusters were compared by what they say, in whichever version. Only what is requested afterwards proves anything
	// about the same moment then.
	contents bool
	// earliest is the number of the change of the view before which no request of the proof was sent, or noEarlier. The object and the others are
	// read with later requests alone.
	earliest uint64

	mu sync.Mutex // for what is read at the same time
	// since is the number of the change of the view after which none may concern the removal: that of the removal, or that before the first
	// request that was sent earlier.
	since uint64
	// versions are those of the other objects; "" for an object that does not exist.
	versions map[Object]string
}

func newProof(removal ProofRequest) *proof {
	p := &proof{removal: removal, since: removal.Since, clusters: make(map[string]bool, len(removal.Clusters)), versions: map[Object]string{}}
	for _, name := range removal.Clusters {
		p.clusters[name] = true
	}
	return p
}

// isForObject reports whether the object is as it was evaluated.
func (p *proof) isForObject() bool {
	return p.found && sameObject(&p.removal.Meta, &p.object, p.removal.Annotations)
}

// concerns reports whether a change of the view may change the removal.
func (p *proof) concerns(later change) bool {
	object := later.object
	switch object.Resource {
	case Clusters:
		return p.decides(object.Name) && p.removal.reads(later.properties)
	case Scores:
		return p.removal.Scores && p.decides(object.Namespace) && p.removal.reads(later.properties)
	case Bindings:
		return object.Namespace == p.removal.Object.Namespace && p.removal.includes(object.Name)
	default:
		return p.has(object)
	}
}

// concernsAny reports whether a change of the view may concern the removal whichever objects the proof is going to read, or is one of its object,
// which may have been another one at the time of a request for another removal.
func (p *proof) concernsAny(later change) bool {
	object := later.object
	return p.concerns(later) || object == p.removal.Object || object.Resource == ClusterSets && p.removal.includes(object.Name) ||
		slices.Contains(p.removal.Others, object)
}

// decides reports whether a cluster decides about the removal.
func (p *proof) decides(cluster string) bool { return p.removal.AllClusters || p.clusters[cluster] }

// has reports whether the proof has a version of an object.
func (p *proof) has(object Object) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, read := p.versions[object]
	return read
}

// uses notes that a response is part of the proof.
func (p *proof) uses(read *reading) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = min(p.since, read.view)
}

// addAll adds objects with their versions.
func (p *proof) addAll(versions map[Object]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.versions, versions)
}

// decidingVersions returns the versions of the deciding clusters, or of their scores, in a list of all: an object that only the view shows does
// not exist.
func (p *proof) decidingVersions(resource schema.GroupVersionResource, list *reading) map[Object]string {
	versions := map[Object]string{}
	if resource == Clusters {
		for _, name := range p.removal.Clusters {
			versions[clusterObject(name)] = list.versions[types.NamespacedName{Name: name}]
		}
	}
	if resource == Clusters && !p.removal.AllClusters {
		return versions
	}
	for object, version := range list.all(resource) {
		if resource == Clusters || p.decides(object.Namespace) {
			versions[object] = version
		}
	}
	return versions
}

func namesOf(objects []Object) []types.NamespacedName {
	names := make([]types.NamespacedName, 0, len(objects))
	for _, object := range objects {
		names = append(names, object.NamespacedName)
	}
	return names
}

func clusterObject(name string) Object {
	return Object{Resource: Clusters, NamespacedName: types.NamespacedName{Name: name}}
}

// without returns the objects that are not excluded.
func without(objects []Object, excluded func(Object) bool) []Object {
	return slices.DeleteFunc(slices.Clone(objects), excluded)
}
