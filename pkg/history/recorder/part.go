// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// part is an object that has a part of a decision: a PlacementDecision, or the ManifestWork of a delivered object in a cluster.
type part interface {
	metav1.Object

	// clusters returns the clusters that the object names.
	clusters() []string
}

// page is a PlacementDecision of a format.
type page struct {
	api.Object

	codec api.Codec
}

func (p page) clusters() []string { return p.codec.Read(p.Object).Clusters() }

// work is the metadata of a ManifestWork, whose namespace is that of its cluster.
type work struct{ metav1.Object }

func (w work) clusters() []string { return []string{w.GetNamespace()} }

// SetWork notes that the ManifestWork of a delivered object exists in the namespace of its cluster. Works of an initial list begin no round.
func (r *Recorder) SetWork(key inventory.Key, object metav1.Object, initial bool) {
	if r == nil || r.shared == nil {
		return
	}
	r.mu.Lock()
	_, known := r.pages[key][object.GetNamespace()]
	r.mu.Unlock()
	if !known { // Reports of agents change works all the time.
		r.set(key, strings.Clone(object.GetNamespace()), work{object}, object, initial)
	}
}

// DeleteWork notes that a ManifestWork was deleted.
func (r *Recorder) DeleteWork(key inventory.Key, last metav1.Object) {
	if r == nil || r.shared == nil {
		return
	}
	r.set(key, last.GetNamespace(), nil, last, false)
}

// ForgetWorks forgets all ManifestWorks, before another initial list.
func (r *Recorder) ForgetWorks() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.pages {
		if key.API() == "" {
			delete(r.pages, key)
		}
	}
	for key := range r.rounds {
		if key.API() == "" {
			delete(r.rounds, key)
		}
	}
}
