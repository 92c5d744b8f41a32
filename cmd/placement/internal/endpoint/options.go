// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	cliflag "k8s.io/component-base/cli/flag"
)

// Options describe the HTTPS endpoint.
type Options struct {
	// Address is host:port to listen on, and Network "tcp", "tcp4" or "tcp6".
	Address, Network string
	// CertFile and KeyFile name the serving certificate; both empty, it is self-signed.
	CertFile, KeyFile string
	// MinTLSVersion and CipherSuites bear the names of component-base's flags; empty, TLS 1.2 and Go's choice are served.
	MinTLSVersion string
	CipherSuites  []string
	// Open serves /metrics without authentication; only the configuration file can set it.
	Open bool
}

// Defaults are upstream's address and a self-signed certificate.
func Defaults() Options { return Options{Address: "0.0.0.0:8443", Network: "tcp"} }

// UseMountedCertificate takes the pair in dir when no other is named. When dir has none either it returns the files whose
// appearance should end the process, so that the next one serves them instead of a self-signed certificate.
func (o *Options) UseMountedCertificate(dir string) []string {
	if o.CertFile != "" || o.KeyFile != "" {
		return nil
	}
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for _, file := range []string{certFile, keyFile} {
		if _, err := os.Stat(file); err != nil {
			return []string{certFile, keyFile}
		}
	}
	o.CertFile, o.KeyFile = certFile, keyFile
	return nil
}

// Validate reports everything that is wrong at once, by the flag or the field of the configuration file.
func (o *Options) Validate() error {
	var errs []error
	if _, _, err := net.SplitHostPort(o.Address); err != nil {
		errs = append(errs, fmt.Errorf("--listen: %w; use host:port, for example 0.0.0.0:8443", err))
	}
	if !slices.Contains([]string{"tcp", "tcp4", "tcp6"}, o.Network) {
		errs = append(errs, fmt.Errorf("servingInfo.bindNetwork: unknown network %q; use tcp, tcp4 or tcp6", o.Network))
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		errs = append(errs, errors.New("servingInfo: certFile and keyFile belong together; set both, or neither for a self-signed certificate"))
	}
	if _, err := cliflag.TLSVersion(o.MinTLSVersion); err != nil {
		errs = append(errs, fmt.Errorf("--tls-min-version: %w; use one of %s", err, strings.Join(cliflag.TLSPossibleVersions(), ", ")))
	}
	if _, err := cliflag.TLSCipherSuites(o.CipherSuites); err != nil {
		errs = append(errs, fmt.Errorf("--tls-cipher-suites: %w; use names among %s", err,
			strings.Join(cliflag.PreferredTLSCipherNames(), ", ")))
	}
	return errors.Join(errs...)
}
