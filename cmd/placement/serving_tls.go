package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	certutil "k8s.io/client-go/util/cert"
	cliflag "k8s.io/component-base/cli/flag"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// servingOptions describe the HTTPS endpoint.
type servingOptions struct {
	address, network  string
	certFile, keyFile string
	minTLSVersion     string
	cipherSuites      []string
	// open serves /metrics to everybody; only the configuration file can ask for it.
	open bool
}

// useMountedCertificate takes the pair in dir when no other is named. When dir has none either it returns the files whose
// appearance should end the process, so that the next one serves them instead of a self-signed certificate.
func (o *servingOptions) useMountedCertificate(dir string) []string {
	if o.certFile != "" || o.keyFile != "" {
		return nil
	}
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for _, file := range []string{certFile, keyFile} {
		if _, err := os.Stat(file); err != nil {
			return []string{certFile, keyFile}
		}
	}
	o.certFile, o.keyFile = certFile, keyFile
	return nil
}

func (o *servingOptions) validate() error {
	var errs []error
	if _, _, err := net.SplitHostPort(o.address); err != nil {
		errs = append(errs, fmt.Errorf("--listen: %w; use host:port, for example 0.0.0.0:8443", err))
	}
	if !slices.Contains([]string{"tcp", "tcp4", "tcp6"}, o.network) {
		errs = append(errs, fmt.Errorf("servingInfo.bindNetwork: unknown network %q; use tcp, tcp4 or tcp6", o.network))
	}
	if (o.certFile == "") != (o.keyFile == "") {
		errs = append(errs, errors.New("servingInfo: certFile and keyFile belong together; set both, or neither for a self-signed certificate"))
	}
	if _, err := cliflag.TLSVersion(o.minTLSVersion); err != nil {
		errs = append(errs, fmt.Errorf("--tls-min-version: %w; use one of %s", err, strings.Join(cliflag.TLSPossibleVersions(), ", ")))
	}
	if _, err := cliflag.TLSCipherSuites(o.cipherSuites); err != nil {
		errs = append(errs, fmt.Errorf("--tls-cipher-suites: %w; use names among %s", err,
			strings.Join(cliflag.PreferredTLSCipherNames(), ", ")))
	}
	return errors.Join(errs...)
}

// tlsConfig loads the given certificate, or makes one. The watcher is nil in the latter case.
func (o *servingOptions) tlsConfig() (*tls.Config, *certwatcher.CertWatcher, error) {
	minVersion, err := cliflag.TLSVersion(o.minTLSVersion)
	if err != nil {
		return nil, nil, fmt.Errorf("--tls-min-version: %w", err)
	}
	suites, err := cliflag.TLSCipherSuites(o.cipherSuites)
	if err != nil {
		return nil, nil, fmt.Errorf("--tls-cipher-suites: %w", err)
	}
	config := &tls.Config{MinVersion: minVersion, CipherSuites: suites, NextProtos: []string{"h2", "http/1.1"}}
	if o.certFile == "" {
		signed := &selfSigned{now: time.Now}
		if _, err := signed.GetCertificate(nil); err != nil {
			return nil, nil, err
		}
		config.GetCertificate = signed.GetCertificate
		return config, nil, nil
	}
	watcher, err := certwatcher.New(o.certFile, o.keyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("loading the serving certificate %s and key %s: %w; correct servingInfo, "+
			"or remove both for a self-signed certificate", o.certFile, o.keyFile, err)
	}
	config.GetCertificate = watcher.GetCertificate
	return config, watcher, nil
}

// selfSigned makes a certificate in memory and a new one a month before it expires. Nobody can verify it: it keeps probes and
// scrapes private on the wire when no certificate is given.
type selfSigned struct {
	now func() time.Time

	mu      sync.Mutex
	current *tls.Certificate
	renewAt time.Time
}

const selfSignedRenewal = 30 * 24 * time.Hour

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
