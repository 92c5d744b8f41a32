// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
)

// kindTTL is how long the resource of a kind is used again, and maxKinds how many are kept at most.
const (
	kindTTL  = 10 * time.Minute
	maxKinds = 512
)

// kinds finds the resources of kinds by discovery.
//
// The RESTMapper of the manager does not serve here: it takes no context, and while an aggregated API server is down its kinds look unknown
// to it, so that a Pod would be admitted unchecked.
type kinds struct {
	discovery discovery.DiscoveryInterfaceWithContext
	known     *utilcache.LRUExpireCache
}

// resource is what the API server serves for a kind.
type resource struct {
	schema.GroupVersionResource

	namespaced bool
}

func newKinds(disco discovery.DiscoveryInterfaceWithContext, passive clock.PassiveClock) *kinds {
	return &kinds{discovery: disco, known: utilcache.NewLRUExpireCacheWithClock(maxKinds, passive)}
}

// find returns the resource of a kind; nil if the API server does not know it. fresh says that discovery was just asked.
func (k *kinds) find(ctx context.Context, kind schema.GroupVersionKind) (served *resource, fresh bool, err error) {
	if known, found := k.known.Get(kind); found {
		served, _ = known.(*resource)
		return served, false, nil
	}
	served, err = k.refresh(ctx, kind)
	return served, true, err
}

// refresh asks discovery for the resource of a kind, in the version of the reference or, if that is not served, in any other one.
func (k *kinds) refresh(ctx context.Context, kind schema.GroupVersionKind) (*resource, error) {
	k.known.Remove(kind)
	served, err := k.inVersion(ctx, kind)
	if served == nil && err == nil {
		served, err = k.inOtherVersions(ctx, kind)
	}
	if served != nil {
		k.known.Add(kind, served, kindTTL)
	}
	return served, err
}

// inVersion returns the resource of a kind in its own version; nil if that does not have it.
func (k *kinds) inVersion(ctx context.Context, kind schema.GroupVersionKind) (*resource, error) {
	list, err := k.discovery.ServerResourcesForGroupVersionWithContext(ctx, kind.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking which resources %s has: %w", kind.GroupVersion(), err)
	}

	for _, found := range list.APIResources {
		if found.Kind == kind.Kind && !strings.Contains(found.Name, "/") { // Subresources have the kind of their parent.
			return &resource{kind.GroupVersion().WithResource(found.Name), found.Namespaced}, nil
		}
	}
	return nil, nil
}

// inOtherVersions returns the resource of a kind in another version of its group; nil if none has it.
func (k *kinds) inOtherVersions(ctx context.Context, kind schema.GroupVersionKind) (*resource, error) {
	groups, err := k.discovery.ServerGroupsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for the versions of %q: %w", kind.Group, err)
	}
	i := slices.IndexFunc(groups.Groups, func(group metav1.APIGroup) bool { return group.Name == kind.Group })
	if i < 0 {
		return nil, nil
	}

	for _, version := range groups.Groups[i].Versions {
		if version.Version == kind.Version {
			continue
		}
		served, err := k.inVersion(ctx, kind.GroupKind().WithVersion(version.Version))
		if served != nil || err != nil {
			return served, err
		}
	}
	return nil, nil
}
