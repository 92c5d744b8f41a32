// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1ac "k8s.io/client-go/applyconfigurations/coordination/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// renewals is how many times a Lease is renewed while it is valid.
const renewals = 3

// leases renews the Leases of the Clusters of a provider. It is safe for concurrent use for different Clusters.
type leases struct {
	provider string
	duration time.Duration
	live     client.Reader
	writer   client.Client
	clock    clock.PassiveClock

	mu      sync.Mutex // guards the field below
	renewed map[types.NamespacedName]renewal
}

// renewal is the last renewal of the Lease of a Cluster.
type renewal struct {
	cluster types.UID
	lease   types.NamespacedName
	at      time.Time
}

func newLeases(settings Settings, live client.Reader, writer client.Client) *leases {
	return &leases{
		provider: settings.Name, duration: settings.LeaseDuration, live: live, writer: writer, clock: settings.Queue.Clock,
		renewed: map[types.NamespacedName]renewal{},
	}
}

// key returns the key of the Lease of a Cluster. provider is nil if the ClusterProvider does not exist: then the Lease stays where it was.
func (l *leases) key(cluster *openmcpv1alpha1.Cluster, provider *openmcpv1alpha1.ClusterProvider) types.NamespacedName {
	if provider != nil {
		return clusterrequest.LeaseKey(cluster, provider.Spec.LeaseNamespace)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, is := l.renewed[client.ObjectKeyFromObject(cluster)]; is && known.cluster == cluster.UID {
		return known.lease
	}
	return clusterrequest.LeaseKey(cluster, "")
}

// renew makes or renews the Lease of a Cluster if that is due, and returns when it is due next. A Lease that is not beside its Cluster has no
// owner, because owners are of the same namespace.
func (l *leases) renew(ctx context.Context, cluster *openmcpv1alpha1.Cluster, lease types.NamespacedName) (time.Duration, error) {
	key := client.ObjectKeyFromObject(cluster)

	last, err := l.last(ctx, key, cluster.UID, lease)
	if err != nil {
		return 0, err
	}
	interval, now := l.duration/renewals, l.clock.Now()

	age := now.Sub(last.at)
	if age >= 0 && age < interval { // A renewal in the future is of another clock.
		return interval - age, nil
	}

	applied := coordinationv1ac.Lease(lease.Name, lease.Namespace).
		WithAnnotations(map[string]string{openmcpv1alpha1.ClusterAnnotation: key.String()}).
		WithSpec(coordinationv1ac.LeaseSpec().
			WithHolderIdentity(l.provider).
			WithLeaseDurationSeconds(int32(l.duration.Seconds())).
			WithRenewTime(metav1.NewMicroTime(now)))
	if lease.Namespace == cluster.Namespace {
		applied = applied.WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(openmcpv1alpha1.GroupVersion.String()).WithKind("Cluster").WithName(cluster.Name).WithUID(cluster.UID))
	}

	if err := l.writer.Apply(ctx, applied, client.ForceOwnership); err != nil {
		return 0, fmt.Errorf("renew the Lease %s: %w", lease, err)
	}
	l.note(key, renewal{cluster.UID, lease, now})
	return interval, nil
}

// last returns the last renewal of the Lease of a Cluster, with the zero time if there is none. It asks the API server once for each Lease, so
// that a restart does not renew what is not due.
func (l *leases) last(ctx context.Context, key types.NamespacedName, uid types.UID, at types.NamespacedName) (renewal, error) {
	l.mu.Lock()
	known, is := l.renewed[key]
	l.mu.Unlock()
	switch {
	case is && known.cluster == uid && known.lease == at:
		return known, nil
	case is && known.cluster != uid: // A Cluster of the same name has taken its place.
		if err := l.end(ctx, key, known.lease); err != nil {
			return renewal{}, err
		}
	}

	lease := &coordinationv1.Lease{}
	found := renewal{cluster: uid, lease: at}

	err := l.live.Get(ctx, at, lease)
	if client.IgnoreNotFound(err) != nil {
		return renewal{}, fmt.Errorf("reading the Lease %s: %w", at, err)
	}
	if err == nil && l.isOwn(lease) {
		found.at = lease.Spec.RenewTime.Time
	}
	l.note(key, found)
	return found, nil
}

// isOwn reports whether a Lease is as this provider writes it, whatever its time.
func (l *leases) isOwn(lease *coordinationv1.Lease) bool {
	holder, seconds, renewed := lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime
	return holder != nil && *holder == l.provider && seconds != nil && time.Duration(*seconds)*time.Second == l.duration && renewed != nil
}

func (l *leases) note(key types.NamespacedName, last renewal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed[key] = last
}

// forget deletes the Lease that was renewed for a Cluster that is gone, if there is one.
func (l *leases) forget(ctx context.Context, key types.NamespacedName) error {
	l.mu.Lock()
	known, is := l.renewed[key]
	l.mu.Unlock()
	if !is {
		return nil
	}
	return l.end(ctx, key, known.lease)
}

// end deletes the Lease of a Cluster.
func (l *leases) end(ctx context.Context, key, at types.NamespacedName) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: at.Namespace, Name: at.Name}}
	if err := l.writer.Delete(ctx, lease); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the Lease %s: %w", at, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.renewed, key)
	return nil
}
