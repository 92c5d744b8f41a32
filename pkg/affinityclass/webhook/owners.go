// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
)

// ownerTTL is how long the metadata of an owner is used again, and maxOwners how many owners are kept at most.
const (
	ownerTTL  = time.Minute
	maxOwners = 4096
)

// owners reads the metadata of objects of any kind, and caches what walks keep.
type owners struct {
	metadata metadata.Interface
	kinds    *kinds
	known    *utilcache.LRUExpireCache
}

func newOwners(config *rest.Config, httpClient *http.Client, passive clock.PassiveClock) (*owners, error) {
	client, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a client of metadata: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a discovery client: %w", err)
	}
	return &owners{metadata: client, kinds: newKinds(disco, passive), known: utilcache.NewLRUExpireCacheWithClock(maxOwners, passive)}, nil
}

// read returns an object as the API server has it; nil if it does not exist, or if the API server does not know its kind.
func (o *owners) read(ctx context.Context, target affinityclass.Target) (*affinityclass.Object, error) {
	served, fresh, err := o.kinds.find(ctx, target.Kind)
	if err != nil || served == nil {
		return nil, err
	}

	object, err := o.get(ctx, served, target)
	if apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && apierrors.IsNotFound(err) && !fresh {
		// The API server does not serve this version any more, and perhaps another one.
		if served, err = o.kinds.refresh(ctx, target.Kind); err != nil || served == nil {
			return nil, err
		}
		object, err = o.get(ctx, served, target)
	}

	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	default:
		return objectOf(target.Kind.GroupKind(), object), nil
	}
}

func (o *owners) get(ctx context.Context, served *resource, target affinityclass.Target) (*metav1.PartialObjectMetadata, error) {
	var client metadata.ResourceInterface = o.metadata.Resource(served.GroupVersionResource)
	if served.namespaced {
		client = o.metadata.Resource(served.GroupVersionResource).Namespace(target.Namespace)
	}
	return client.Get(ctx, target.Name, metav1.GetOptions{}) //nolint:wrapcheck // The walk names the owner.
}

// walk is the reads of owners for one Pod.
type walk struct {
	owners *owners
	// read has the owners that were read for this Pod, by the UIDs of the references.
	read map[types.UID]readOwner
}

type readOwner struct {
	target affinityclass.Target
	object *affinityclass.Object
}

func (o *owners) newWalk() *walk { return &walk{owners: o, read: map[types.UID]readOwner{}} }

// lookup returns an owner from the cache, or from the API server.
func (w *walk) lookup(ctx context.Context, target affinityclass.Target) (*affinityclass.Object, error) {
	if known, found := w.owners.known.Get(target); found {
		object, _ := known.(*affinityclass.Object)
		return object, nil
	}
	object, err := w.owners.read(ctx, target)
	if object != nil {
		w.read[target.UID] = readOwner{target, object}
	}
	return object, err
}

// keep caches the owners of these UIDs. They must lead to a HelmRelease, so that no Pod is admitted unchecked because of an old read.
func (w *walk) keep(through []types.UID) {
	for _, uid := range through {
		if owner, read := w.read[uid]; read {
			w.owners.known.Add(owner.target, owner.object, ownerTTL)
		}
	}
}
