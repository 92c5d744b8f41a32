// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver/certificates"
)

const (
	// minRequeueDelay is the least delay of a requeue, so that a small difference of clocks does not cause a second one.
	minRequeueDelay = time.Second
	// maxRequeueDelay bounds the delay of a requeue, which may have been computed while the clock was wrong. A reconcile without a change
	// sends no request.
	maxRequeueDelay = 10 * time.Minute
)

// reconciler writes the Secret, and the fields of the configurations that the hub owns.
type reconciler struct {
	client    client.Client
	clock     clock.PassiveClock
	key       types.NamespacedName // of the Secret
	schedule  certificates.Schedule
	webhooks  []*watched
	published *publisher      // nil for none
	missing   map[absent]bool // configurations whose absence was logged
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// Reconcile renews certificates that are due, and repairs the Secret and the configurations.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	again, err := r.sync(ctx)
	result, err := r.conflicts.Result(ctx, request, err)
	if err == nil && result.RequeueAfter == 0 {
		result.RequeueAfter = min(max(again.Sub(r.clock.Now()), minRequeueDelay), maxRequeueDelay)
	}
	return result, err
}

// sync returns the time of the next renewal.
func (r *reconciler) sync(ctx context.Context) (time.Time, error) {
	secret := &corev1.Secret{}
	if err := client.IgnoreNotFound(r.client.Get(ctx, r.key, secret)); err != nil {
		return time.Time{}, fmt.Errorf("reading Secret %s: %w", r.key, err)
	}
	installed, err := r.configurations(ctx)
	if err != nil {
		return time.Time{}, err
	}
	held := materialOf(secret)

	next, again, err := r.schedule.Next(held, r.hosts(installed), r.clock.Now())
	if err != nil {
		return time.Time{}, err
	}

	// A bundle is stored before it is published, and a certificate is used after its bundle was published.
	steps := []func() error{
		func() error { return r.write(ctx, secret, held, next) },
		func() error { return r.publish(ctx, installed, next.Bundle) },
	}
	if bytes.Equal(held.Bundle, next.Bundle) {
		steps[0], steps[1] = steps[1], steps[0]
	}

	for _, step := range steps {
		if err := step(); err != nil {
			return time.Time{}, err
		}
	}
	if r.published != nil { // It comes last, so that a missing right does not keep certificates from their renewal.
		if err := r.published.publish(ctx, next.Bundle); err != nil {
			return time.Time{}, err
		}
	}
	return again, nil
}

// hosts returns the host names of the serving certificate.
func (r *reconciler) hosts(installed []configuration) []string {
	hosts := hostsOf(installed, r.key.Namespace)
	if r.published != nil {
		hosts = append(hosts, urlHosts(r.published.url(r.key.Namespace))...)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// write stores the next certificates in the Secret.
func (r *reconciler) write(ctx context.Context, secret *corev1.Secret, held, next certificates.Material) error {
	if next.Equal(held) {
		return nil
	}
	changed := secret.DeepCopy()
	if changed.Data == nil {
		changed.Data = map[string][]byte{}
	}
	changed.Data[bundleKey], changed.Data[authorityKeyKey] = next.Bundle, next.AuthorityKey
	changed.Data[corev1.TLSCertKey], changed.Data[corev1.TLSPrivateKeyKey] = next.Certificate, next.Key

	log := klog.FromContext(ctx)
	if secret.ResourceVersion != "" {
		if err := r.client.Update(ctx, changed); err != nil {
			return fmt.Errorf("writing Secret %s: %w", r.key, err)
		}
		log.V(2).Info("Renewed the certificates of the webhooks", "secret", r.key)
		return nil
	}
	changed.ObjectMeta = metav1.ObjectMeta{Namespace: r.key.Namespace, Name: r.key.Name}
	changed.Type = corev1.SecretTypeTLS

	err := r.client.Create(ctx, changed)
	if apierrors.IsNotFound(err) { // A quiet retry would hide the missing namespace.
		//nolint:errorlint // It must not count as a conflict.
		return fmt.Errorf("creating Secret %s: create the namespace, or name another with --namespace: %v", r.key, err)
	}
	if err != nil {
		return fmt.Errorf("creating Secret %s: %w", r.key, err)
	}
	log.V(2).Info("Made the certificates of the webhooks", "secret", r.key)
	return nil
}
