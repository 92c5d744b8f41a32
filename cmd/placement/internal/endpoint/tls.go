package endpoint

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"sync"
	"time"

	certutil "k8s.io/client-go/util/cert"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
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
		go signed.prepare() // It is slow; the first handshakes wait for it.
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

const selfSignedRenewal = 30 * 24 * time.Hour

// prepare makes the certificate before the first request. After an error, each request tries again and returns its error.
func (s *selfSigned) prepare() {
	if _, err := s.GetCertificate(nil); err != nil {
		klog.Background().Error(err, "Preparing to serve")
	}
}

// GetCertificate is for tls.Config.
func (s *selfSigned) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.now().Before(s.renewAt) {
		return s.current, nil
	}
	certPEM, keyPEM, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, nil)
	if err != nil {
		return nil, fmt.Errorf("making a self-signed certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("loading the self-signed certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, fmt.Errorf("parsing the self-signed certificate: %w", err)
	}
	s.current, s.renewAt = &pair, leaf.NotAfter.Add(-selfSignedRenewal)
	return s.current, nil
}
