// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/openshift/library-go/pkg/crypto"
	cliflag "k8s.io/component-base/cli/flag"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// TLS returns the versions and ciphers to serve with, and no certificate.
func (o *Options) TLS() (*tls.Config, error) {
	minVersion, err := cliflag.TLSVersion(o.MinTLSVersion)
	if err != nil {
		return nil, fmt.Errorf("--tls-min-version: %w", err)
	}
	suites, err := cliflag.TLSCipherSuites(o.CipherSuites)
	if err != nil {
		return nil, fmt.Errorf("--tls-cipher-suites: %w", err)
	}
	return &tls.Config{MinVersion: minVersion, CipherSuites: suites, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// tlsConfig loads the given certificate, or makes one. The watcher is nil in the latter case.
func (o *Options) tlsConfig() (*tls.Config, *certwatcher.CertWatcher, error) {
	config, err := o.TLS()
	if err != nil {
		return nil, nil, err
	}
	if o.CertFile == "" {
		signed := &selfSigned{now: time.Now}
		config.GetCertificate = signed.GetCertificate
		return config, nil, nil
	}
	watcher, err := certwatcher.New(o.CertFile, o.KeyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("loading the serving certificate %s and key %s: %w; correct servingInfo, "+
			"or remove both for a self-signed certificate", o.CertFile, o.KeyFile, err)
	}
	config.GetCertificate = watcher.GetCertificate
	return config, watcher, nil
}

// selfSigned makes a certificate in memory and renews it a month before it expires. Nobody can verify it: it only encrypts probes and
// scrapes when no certificate is given.
type selfSigned struct {
	now func() time.Time

	mu      sync.Mutex
	current *tls.Certificate
	renewAt time.Time
}

const (
	selfSignedLifetime = 365 * 24 * time.Hour
	selfSignedRenewal  = 30 * 24 * time.Hour
)

// GetCertificate is for tls.Config.
func (s *selfSigned) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.now().Before(s.renewAt) {
		return s.current, nil
	}
	// The certutil package of client-go makes RSA keys, which cost each start 0.1 s of CPU.
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of a self-signed certificate: %w", err)
	}
	now := s.now()
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: fmt.Sprintf("localhost@%d", now.Unix())},
		NotBefore:   now.Add(-time.Hour), // for clients whose clocks are behind
		NotAfter:    now.Add(selfSignedLifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	issuer := &crypto.CA{
		Config:          &crypto.TLSCertificateConfig{Certs: []*x509.Certificate{template}, Key: key},
		SerialGenerator: &crypto.RandomSerialGenerator{},
	}
	leaf, err := issuer.SignCertificate(template, key.Public())
	if err != nil {
		return nil, fmt.Errorf("making a self-signed certificate: %w", err)
	}
	s.current = &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
	s.renewAt = leaf.NotAfter.Add(-selfSignedRenewal)
	return s.current, nil
}
