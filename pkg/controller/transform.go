package controller

import (
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
)

// compact makes objects small before they are cached, and changes nothing that is ever read. What the API server notes about field
// managers is dropped: it can be most of an object. Names that stand in very many decisions are kept once.
func compact() toolscache.TransformFunc {
	known := &names{known: map[string]string{}}

	return func(in any) (any, error) {
		object, ok := in.(metav1.Object)
		if !ok {
			return in, nil
		}

		if object.GetManagedFields() != nil {
			object.SetManagedFields(nil)
		}

		known.mu.Lock()
		defer known.mu.Unlock()

		switch object := in.(type) {
		case *clusterv1.ManagedCluster:
			known.keep(&object.Name)
		case *clusterv1beta1.PlacementDecision:
			known.page(&object.ObjectMeta)

			object.Status.Decisions = exact(object.Status.Decisions)
			for i := range object.Status.Decisions {
				known.keep(&object.Status.Decisions[i].ClusterName)
			}
		case *placementv1alpha1.PlacementDecision:
			known.page(&object.ObjectMeta)

			object.Decisions = exact(object.Decisions)
			for i := range object.Decisions {
				known.keep(&object.Decisions[i].ClusterName)
			}
		case *clusterinventory.PlacementDecision:
			known.page(&object.ObjectMeta)

			object.Decisions = exact(object.Decisions)
			for i := range object.Decisions {
				known.keep(&object.Decisions[i].ClusterProfileRef.Namespace, &object.Decisions[i].ClusterProfileRef.Name)
			}
		}

		return in, nil
	}
}

// exact is the list without the room that decoding left behind it. Nil stays nil, and an empty list empty.
func exact[T any](list []T) []T {
	if len(list) == cap(list) {
		return list
	}

	return append(make([]T, 0, len(list)), list...)
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

// page keeps what the metadata of pages have in common.
func (n *names) page(meta *metav1.ObjectMeta) {
	n.keep(&meta.Namespace)

	labels := make(map[string]string, len(meta.Labels))

	for key, value := range meta.Labels {
		n.keep(&key, &value)
		labels[key] = value
	}

	if meta.Labels != nil {
		meta.Labels = labels
	}

	for i := range meta.OwnerReferences {
		n.keep(&meta.OwnerReferences[i].APIVersion, &meta.OwnerReferences[i].Kind, &meta.OwnerReferences[i].Name)
	}
}
