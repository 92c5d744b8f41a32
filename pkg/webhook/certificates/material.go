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

// Material is what is held, as PEM.
type Material struct {
	// Bundle are the certificate authorities to trust, the newest first.
	Bundle []byte
	// AuthorityKey is the key of the newest authority.
	AuthorityKey []byte
	// Certificate and Key are what is served.
	Certificate, Key []byte
}

// Equal reports whether nothing differs.
func (m Material) Equal(other Material) bool {
	return bytes.Equal(m.Bundle, other.Bundle) && bytes.Equal(m.AuthorityKey, other.AuthorityKey) &&
		bytes.Equal(m.Certificate, other.Certificate) && bytes.Equal(m.Key, other.Key)
}

// Pair is what is served, for a TLS server.
func (m Material) Pair() (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(m.Certificate, m.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the serving certificate and its key: %w", err)
	}

	return &pair, nil
}

// authorities are those of the bundle that have not expired, each once. What cannot be read is none.
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

// signer is the newest authority with its key, nil if it cannot sign.
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

// served is the certificate that is served, nil if an API server that trusts these authorities would refuse it.
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
