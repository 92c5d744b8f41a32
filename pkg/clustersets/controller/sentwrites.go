// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// sentWrites does not send a write again while the cache still shows the version that it was based on. It is safe for concurrent use; one worker
// at a time writes an object.
type sentWrites struct {
	*consistency.Store

	// liveVersion returns the resourceVersion of an object on the API server; "" if it does not exist.
	liveVersion func(ctx context.Context, key types.NamespacedName) (string, error)
}

func newSentWrites(c clock.PassiveClock, shown func(context.Context, types.NamespacedName) (string, error)) *sentWrites {
	return &sentWrites{Store: consistency.NewStore(c), liveVersion: shown}
}

// liveBindingVersion returns a function that reads the resourceVersion of a ManagedClusterSetBinding from the API server.
func liveBindingVersion(live client.Reader) func(context.Context, types.NamespacedName) (string, error) {
	return func(ctx context.Context, key types.NamespacedName) (string, error) {
		binding, found, err := objects.LiveMetadata(ctx, live, &clusterv1beta2.ManagedClusterSetBinding{}, key)
		if err != nil || !found {
			return "", err
		}
		return binding.ResourceVersion, nil
	}
}

// write calls send unless the cache is known to be behind: a write that is based on the same resourceVersion was sent or was rejected with
// a conflict, and the API server shows another version now. The API server is asked at most once in consistency.Timeout.
func (s *sentWrites) write(ctx context.Context, key types.NamespacedName, base string, send func() error) error {
	left, pending := s.Pending(key, base)
	if pending && left > 0 {
		return nil
	}
	s.Writing(key, base)
	if pending {
		if behind, err := s.behind(ctx, key, base); behind || err != nil {
			return err
		}
	}

	err := send()
	if err == nil {
		return nil
	}
	if queue.Outdated(err) {
		if behind, unknown := s.behind(ctx, key, base); behind && unknown == nil {
			return err
		}
	}
	s.Clear(key)
	return err
}

// behind reports whether the API server shows another resourceVersion of an object than the cache.
func (s *sentWrites) behind(ctx context.Context, key types.NamespacedName, base string) (bool, error) {
	version, err := s.liveVersion(ctx, key)
	return err == nil && version != base, err
}
