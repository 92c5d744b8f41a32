// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"maps"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/history/changes"
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

// grant is the metadata of a ClusterRequestGrant, with the Cluster that it names.
type grant struct {
	metav1.Object

	cluster string
}

func (g grant) clusters() []string { return []string{g.cluster} }

// RequestKey returns the key of a ClusterRequest, which has the name of its Grant.
func RequestKey(name types.NamespacedName) inventory.Key {
	return inventory.Key{NamespacedName: name, GroupKind: inventory.GroupKind(requestKind.String())}
}

var requestKind = openmcpv1alpha1.GroupVersion.WithKind(changes.KindRequest).GroupKind()

// SetGrant notes that the Grant of a ClusterRequest names a Cluster, as NAMESPACE/NAME. Grants of an initial list begin no round.
func (r *Recorder) SetGrant(object metav1.Object, cluster string, initial bool) {
	if r == nil || r.shared == nil {
		return
	}
	key := RequestKey(types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()})
	r.mu.Lock()
	known, is := r.pages[key][object.GetName()].(grant)
	r.mu.Unlock()
	if !is || known.cluster != cluster || known.GetUID() != object.GetUID() {
		r.set(key, object.GetName(), grant{object, cluster}, object, initial)
	}
}

// DeleteGrant notes that a Grant was deleted.
func (r *Recorder) DeleteGrant(last metav1.Object) {
	if r == nil || r.shared == nil {
		return
	}
	r.set(RequestKey(types.NamespacedName{Namespace: last.GetNamespace(), Name: last.GetName()}), last.GetName(), nil, last, false)
}

// Observe notes the changes of an object that is not among those of Setup; nil for one that did not exist or is deleted.
func (r *Recorder) Observe(before, after client.Object, initial bool) {
	switch {
	case r == nil || r.shared == nil:
	case after == nil:
		r.note(changes.Between(before, nil), time.Now())
	default:
		r.observe(before, after, initial, time.Now)
	}
}

// ForgetWorks forgets all ManifestWorks, before another initial list.
func (r *Recorder) ForgetWorks() {
	r.forget(func(key inventory.Key) bool { return key.API() == "" && !isRequest(key) })
}

// ForgetGrants forgets all Grants, before another initial list.
func (r *Recorder) ForgetGrants() { r.forget(isRequest) }

func isRequest(key inventory.Key) bool { return string(key.GroupKind) == requestKind.String() }

func (r *Recorder) forget(goes func(inventory.Key) bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.pages, func(key inventory.Key, _ map[string]part) bool { return goes(key) })
	maps.DeleteFunc(r.rounds, func(key inventory.Key, _ *round) bool { return goes(key) })
}
