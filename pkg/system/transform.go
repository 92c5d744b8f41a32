// SPDX-License-Identifier: Apache-2.0

package system

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
)

// compact makes objects small before they are cached, and changes nothing that is ever read. What the API server notes about field
// managers is dropped: it can be most of an object. Of ManifestWorks it keeps who has applied them, and not the payload, which stays in the
// API server. Names that stand in very many decisions or works are kept once.
func compact() toolscache.TransformFunc {
	known, said, adapters := &names{known: map[string]string{}}, &names{known: map[string]string{}}, api.Adapters()
	codecs := append(make([]api.Codec, 0, 1+len(adapters)), controller.Multicluster)
	for _, adapter := range adapters {
		codecs = append(codecs, adapter.Codec())
	}
	all := (&Options{}).Systems()
	return func(in any) (any, error) {
		object, ok := in.(metav1.Object)
		if !ok {
			return in, nil
		}
		if work, is := in.(*workv1.ManifestWork); is {
			known.compactWork(work)
			return in, nil
		}

		if object.GetManagedFields() != nil {
			object.SetManagedFields(nil)
		}
		for _, system := range all {
			if system.Compact != nil {
				system.Compact(in)
			}
		}
		cluster, isCluster := in.(*clusterv1.ManagedCluster)
		if isCluster {
			said.compactCluster(cluster)
		}
		known.mu.Lock()
		defer known.mu.Unlock()
		if isCluster {
			known.keep(&cluster.Name)
			return in, nil
		}
		for _, codec := range codecs {
			if codec.Compact(in, known.keep) {
				break
			}
		}
		return in, nil
	}
}

// mostNames and mostNameBytes bound how many strings are known, so that what came and went does not stay for ever.
const (
	mostNames     = 1 << 17
	mostNameBytes = 4 << 20
)

// names keeps one copy of equal strings.
//
// It is not Go's unique package: the cache holds the strings of API objects and no unique.Handle, and without a live handle the garbage
// collector drops the canonical copy, so that the next equal string would become a second copy.
type names struct {
	mu    sync.Mutex
	known map[string]string
	bytes int

	digests federation.Digests
}

// compactWork makes a work small. Its hash is computed without the lock, because a work can be large.
func (n *names) compactWork(work *workv1.ManifestWork) {
	if federation.IsCompactWork(work) {
		return // It may be shared.
	}
	n.digests.CompactWork(work)
	n.mu.Lock()
	defer n.mu.Unlock()
	federation.InternWork(work, n.keep)
}

// compactCluster keeps once what many clusters say alike: the names and values of labels and claims, conditions, taints, and the names of resources
// and annotations. The lists have no room to spare. Agents write most of it, so these names are apart from those in decisions: an agent that reports
// ever new strings must not make the hub forget the latter.
func (n *names) compactCluster(cluster *clusterv1.ManagedCluster) {
	n.mu.Lock()
	defer n.mu.Unlock()
	cluster.Labels = keepMap(n, cluster.Labels, func(value *string) { n.keep(value) })
	cluster.Annotations = keepMap(n, cluster.Annotations, func(*string) {})
	cluster.Spec.Taints = api.CompactList(cluster.Spec.Taints)
	for i := range cluster.Spec.Taints {
		n.keep(&cluster.Spec.Taints[i].Key, &cluster.Spec.Taints[i].Value)
	}

	status := &cluster.Status
	status.Capacity = keepMap(n, status.Capacity, func(*resource.Quantity) {})
	status.Allocatable = keepMap(n, status.Allocatable, func(*resource.Quantity) {})
	n.keep(&status.Version.Kubernetes)
	status.ClusterClaims = api.CompactList(status.ClusterClaims)
	for i := range status.ClusterClaims {
		n.keep(&status.ClusterClaims[i].Name, &status.ClusterClaims[i].Value)
	}
	status.Conditions = api.CompactList(status.Conditions)
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		n.keep(&condition.Type, &condition.Reason, &condition.Message)
	}
}

// keepMap returns a map with the known copies of its keys, and with the values as keep makes them; nil for nil.
func keepMap[K ~string, V any](n *names, of map[K]V, keep func(*V)) map[K]V {
	if of == nil {
		return nil
	}
	kept := make(map[K]V, len(of))
	for key, value := range of {
		name := string(key)
		n.keep(&name)
		keep(&value)
		kept[K(name)] = value
	}
	return kept
}

// keep replaces strings by the known copies of them; mu must be held.
func (n *names) keep(texts ...*string) {
	for _, text := range texts {
		known, is := n.known[*text]
		if !is {
			if len(n.known) >= mostNames || n.bytes+len(*text) > mostNameBytes {
				n.known, n.bytes = map[string]string{}, 0 // What is in use becomes known again. Clearing a map would keep its buckets.
			}
			known = strings.Clone(*text)
			n.known[known] = known
			n.bytes += len(known)
		}
		*text = known
	}
}
