// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver/certificates"
)

// The keys of the Secret.
const (
	bundleKey       = "ca-bundle.crt"
	authorityKeyKey = "ca.key"
)

// materialOf returns the certificates and keys in a Secret.
func materialOf(secret *corev1.Secret) certificates.Material {
	return certificates.Material{
		Bundle: secret.Data[bundleKey], AuthorityKey: secret.Data[authorityKeyKey],
		Certificate: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey],
	}
}

// certificateSource returns the certificate of the Secret in the cache. It is safe for concurrent use.
type certificateSource struct {
	reader client.Reader
	key    types.NamespacedName

	mu      sync.Mutex
	version string // resourceVersion of the Secret that was read last
	newest  *tls.Certificate
}

// GetCertificate implements tls.Config.GetCertificate.
func (c *certificateSource) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.certificate(hello.Context())
}

// certificate returns the newest certificate that could be read so far. After the Secret was deleted or edited, the last certificate is
// used until the Secret is repaired.
func (c *certificateSource) certificate(ctx context.Context) (*tls.Certificate, error) {
	secret := &corev1.Secret{}
	err := c.reader.Get(ctx, c.key, secret)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && secret.ResourceVersion != c.version {
		c.version = secret.ResourceVersion
		c.load(ctx, secret)
	}

	if c.newest != nil {
		return c.newest, nil
	}
	if err == nil {
		err = errors.New("it holds none that can be read")
	}
	return nil, fmt.Errorf("finding a certificate in Secret %s: %w", c.key, err)
}

// load reads the certificate of a Secret, and keeps the last one if it is invalid.
func (c *certificateSource) load(ctx context.Context, secret *corev1.Secret) {
	pair, err := materialOf(secret).Pair()
	if err != nil {
		klog.FromContext(ctx).Info("Serving the webhook with the last certificate until the Secret is mended", "secret", c.key, "err", err)
		return
	}
	c.newest = pair
}
