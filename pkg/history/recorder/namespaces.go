// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

const (
	// mostNamespaces bounds the namespaces that are known.
	mostNamespaces = 10000
	// readTimeout bounds the request for one.
	readTimeout = 5 * time.Second
	// failed is how long a namespace that could not be read is not read again, as by a hub without the right.
	failed = time.Minute
	// skew is how far the clocks of hub and API server may differ.
	skew = time.Minute
)

// namespaces knows the uids of namespaces. It is safe for concurrent use.
type namespaces struct {
	live client.Reader

	mu    sync.Mutex
	known map[string]namespace
}

type namespace struct {
	uid     types.UID
	created time.Time
	read    time.Time
	// asked is when the youngest object was created for which it was read.
	asked time.Time
	// err says why it could not be read.
	err error
}

func newNamespaces(live client.Reader) *namespaces {
	return &namespaces{live: live, known: map[string]namespace{}}
}

// uid returns the uid of the namespace of an object that was created at a time; empty if the namespace is a later one. It is read again for objects
// that are younger than what is known of it, once for those of one age.
func (n *namespaces) uid(ctx context.Context, name string, created time.Time) (types.UID, error) {
	n.mu.Lock()
	known, found := n.known[name]
	n.mu.Unlock()
	again := created.After(known.read.Add(-skew)) && created.After(known.asked)
	if known.err != nil {
		again = time.Since(known.read) >= failed
	}
	if !found || again {
		asked := known.asked
		known = n.get(ctx, name)
		if known.asked = asked; created.After(asked) {
			known.asked = created
		}
		n.mu.Lock()
		if len(n.known) >= mostNamespaces {
			n.known = map[string]namespace{}
		}
		n.known[name] = known
		n.mu.Unlock()
	}
	if known.err != nil || created.Before(known.created) {
		return "", known.err
	}
	return known.uid, nil
}

func (n *namespaces) get(ctx context.Context, name string) namespace {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	now := time.Now()
	found, exists, err := objects.LiveMetadata(ctx, n.live, &corev1.Namespace{}, types.NamespacedName{Name: name})
	switch {
	case err != nil:
		return namespace{read: now, err: fmt.Errorf("reading the namespace %s: %w", name, err)}
	case !exists:
		return namespace{read: now, err: fmt.Errorf("there is no namespace %s", name)}
	}
	return namespace{uid: found.UID, created: found.CreationTimestamp.Time, read: now}
}

// NamespaceUID reads the uid of a namespace from the API server; empty if there is none, or the hub may not list namespaces.
func (r *Recorder) NamespaceUID(ctx context.Context, name string) (types.UID, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	found, exists, err := objects.LiveMetadata(ctx, r.namespaces.live, &corev1.Namespace{}, types.NamespacedName{Name: name})
	switch {
	case apierrors.IsForbidden(err), err == nil && !exists:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading the namespace %s: %w", name, err)
	default:
		return found.UID, nil
	}
}
