// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/clock"
)

// readiness checks that API servers can call the webhooks of this process, and that these have what they read. Requests that a webhook with
// failure policy Fail reviews fail while they cannot, so a pod is not ready before. It is safe for concurrent use.
type readiness struct {
	source   *certificateSource
	webhooks []*watched
	clock    clock.PassiveClock

	passed atomic.Bool
}

// check returns an error until the caches of all webhooks have synced and every installed configuration trusts the certificate. Once it has
// passed, it always passes: the leader repairs a configuration or Secret that is edited later, a handler whose cache is behind reads the API
// server or returns an error, and a Service without pods would not help.
func (r *readiness) check(ctx context.Context) error {
	if r.passed.Load() {
		return nil
	}
	certificate, err := r.source.certificate(ctx)
	if err != nil {
		return fmt.Errorf("the webhooks cannot answer yet: %w", err)
	}

	for _, webhook := range r.webhooks {
		if webhook.Synced != nil {
			if err := webhook.Synced(); err != nil {
				return fmt.Errorf("the webhooks of %s cannot answer yet: %w", webhook.Controller, err)
			}
		}
		installed, _, err := webhook.find(ctx)
		if err != nil {
			return fmt.Errorf("looking whom API servers trust: %w", err)
		}

		for _, configuration := range installed {
			for _, hook := range configuration.hooks {
				if err := r.trusts(hook.client, certificate.Leaf); err != nil {
					return fmt.Errorf("API servers that read %T %s do not trust the webhook yet: %w",
						configuration.object, configuration.object.GetName(), err)
				}
			}
		}
	}

	r.passed.Store(true)
	return nil
}

// trusts returns an error if an API server with this client configuration would reject the certificate.
func (r *readiness) trusts(config *admissionregistrationv1.WebhookClientConfig, certificate *x509.Certificate) error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(config.CABundle) {
		return errors.New("caBundle holds no certificate authority")
	}
	options := x509.VerifyOptions{Roots: roots, CurrentTime: r.clock.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if _, err := certificate.Verify(options); err != nil {
		return fmt.Errorf("caBundle: %w", err)
	}

	for _, host := range hostsIn(config) {
		if err := certificate.VerifyHostname(host); err != nil {
			return err //nolint:wrapcheck // It names the host and those that the certificate has.
		}
	}
	return nil
}
