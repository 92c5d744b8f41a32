// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certutil "k8s.io/client-go/util/cert"

	"github.com/placement-hub/placement-hub/test/expect"
)

// writePair writes a new certificate for the host over tls.crt and tls.key in dir.
func writePair(t *testing.T, dir, host string) {
	t.Helper()
	cert, key, err := certutil.GenerateSelfSignedCertKey(host, nil, nil)
	expect.NoError(t, err)
	for name, data := range map[string][]byte{"tls.crt": cert, "tls.key": key} {
		expect.NoError(t, os.Rename(expect.File(t, filepath.Join(dir, "new"), string(data)), filepath.Join(dir, name)))
	}
}

func servedName(t *testing.T, config *tls.Config) string {
	t.Helper()
	pair, err := config.GetCertificate(nil)
	expect.NoError(t, err)
	return pair.Leaf.Subject.CommonName
}

func TestCertificateIsReloaded(t *testing.T) {
	dir := t.TempDir()
	writePair(t, dir, "before.example")
	o := localServing()
	o.UseMountedCertificate(dir)
	config, watcher, err := o.tlsConfig()
	expect.NoError(t, err)
	before := servedName(t, config)

	changed := make(chan struct{}, 2)
	watcher.RegisterCallback(func(tls.Certificate) { changed <- struct{}{} })
	<-changed
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- watcher.WithWatchInterval(50 * time.Millisecond).Start(ctx) }()
	writePair(t, dir, "after.example")
	select {
	case <-changed:
	case <-time.After(30 * time.Second):
		t.Fatal("the certificate was replaced 30 s ago and is not served yet")
	}
	if after := servedName(t, config); after == before {
		t.Errorf("still serving the certificate of %s", before)
	}
	cancel()
	expect.NoError(t, <-done)
}

func TestTLSOptions(t *testing.T) {
	o := Options{}
	config, _, err := o.tlsConfig()
	expect.NoError(t, err)
	if config.MinVersion != tls.VersionTLS12 || config.CipherSuites != nil {
		t.Errorf("defaults: minimum %x, suites %v; want TLS 1.2 and Go's own", config.MinVersion, config.CipherSuites)
	}
	o = Options{MinTLSVersion: "VersionTLS13", CipherSuites: []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}}
	config, _, err = o.tlsConfig()
	expect.NoError(t, err)
	want := []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}
	if diff := cmp.Diff(want, config.CipherSuites); diff != "" || config.MinVersion != tls.VersionTLS13 {
		t.Errorf("minimum %x, suites (-want +got):\n%s", config.MinVersion, diff)
	}
}

func TestSelfSignedCertificateIsRenewed(t *testing.T) {
	now := time.Now()
	s := &selfSigned{now: func() time.Time { return now }}
	first, err := s.GetCertificate(nil)
	expect.NoError(t, err)
	now = now.Add(300 * 24 * time.Hour)
	if second, err := s.GetCertificate(nil); err != nil || second != first {
		t.Errorf("a valid certificate was replaced (error %v)", err)
	}
	now = now.Add(64 * 24 * time.Hour)
	third, err := s.GetCertificate(nil)
	expect.NoError(t, err)
	if third == first {
		t.Error("the certificate expires within a day and was not renewed")
	}
}

// A client that trusts the certificate verifies it for each name of the loopback interface.
func TestSelfSignedCertificateServes(t *testing.T) {
	config, _, err := (&Options{}).tlsConfig()
	expect.NoError(t, err)
	pair, err := config.GetCertificate(nil)
	expect.NoError(t, err)
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	expect.NoError(t, err)
	trusted := x509.NewCertPool()
	trusted.AddCert(leaf)

	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		near, far := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- tls.Server(near, config).HandshakeContext(t.Context()) }()
		client := tls.Client(far, &tls.Config{RootCAs: trusted, ServerName: name, MinVersion: tls.VersionTLS12})
		expect.NoError(t, client.HandshakeContext(t.Context()))
		expect.NoError(t, <-served)
	}
}
