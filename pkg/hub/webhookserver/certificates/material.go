// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	"github.com/openshift/library-go/pkg/crypto"
)

// Material has certificates and keys as PEM.
type Material struct {
	// Bundle has the certificate authorities to trust, the newest first.
	Bundle []byte
	// AuthorityKey is the key of the newest authority.
	AuthorityKey []byte
	// Certificate and Key are those of the server.
	Certificate, Key []byte
}

// Equal reports whether two Materials have the same bytes.
func (m Material) Equal(other Material) bool {
	return bytes.Equal(m.Bundle, other.Bundle) && bytes.Equal(m.AuthorityKey, other.AuthorityKey) &&
		bytes.Equal(m.Certificate, other.Certificate) && bytes.Equal(m.Key, other.Key)
}

// Pair returns the certificate of a TLS server. It returns an error if the certificate or the key is invalid.
func (m Material) Pair() (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(m.Certificate, m.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the serving certificate and its key: %w", err)
	}
	return &pair, nil
}

// authorities returns those of the bundle that have not expired, without duplicates; nil if the bundle cannot be read.
func (m Material) authorities(now time.Time) []*x509.Certificate {
	certificates, err := crypto.CertsFromPEM(m.Bundle)
	if err != nil {
		return nil
	}
	var found []*x509.Certificate
	for _, certificate := range certificates {
		if certificate.IsCA && now.Before(certificate.NotAfter) && !slices.ContainsFunc(found, certificate.Equal) {
			found = append(found, certificate)
		}
	}
	return found
}

// signer returns the newest authority with its key; nil if it cannot sign.
func (m Material) signer(authorities []*x509.Certificate, now time.Time) *crypto.CA {
	if len(authorities) == 0 || now.Before(authorities[0].NotBefore) {
		return nil
	}
	certificate, err := crypto.EncodeCertificates(authorities[0])
	if err != nil {
		return nil
	}

	signer, err := crypto.GetCAFromBytes(certificate, m.AuthorityKey)
	if err != nil {
		return nil
	}
	return signer
}

// served returns the serving certificate; nil if an API server that trusts these authorities would reject it.
func (m Material) served(authorities []*x509.Certificate, hosts []string, now time.Time) *x509.Certificate {
	pair, err := m.Pair()
	if err != nil {
		return nil
	}
	roots := x509.NewCertPool()
	for _, authority := range authorities {
		roots.AddCert(authority)
	}

	options := x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if _, err := pair.Leaf.Verify(options); err != nil {
		return nil
	}
	for _, host := range hosts {
		if pair.Leaf.VerifyHostname(host) != nil {
			return nil
		}
	}
	return pair.Leaf
}
