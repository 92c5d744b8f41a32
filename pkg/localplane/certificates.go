// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/openshift/library-go/pkg/crypto"
	"k8s.io/apiserver/pkg/authentication/user"
)

const (
	authorityLifetime   = 10 * 365 * 24 * time.Hour
	certificateLifetime = 365 * 24 * time.Hour
)

// authority signs the certificates of the API server and of its clients.
type authority struct {
	ca   *crypto.CA
	file string // of the certificate
	pem  []byte
}

// ensureAuthority reads the certificate authority of a data directory, or creates it at the first start.
func ensureAuthority(d *dataDirectory) (*authority, error) {
	certificate, key := d.file("ca.crt"), d.file("ca.key")
	a := &authority{file: certificate}
	_, err := os.Stat(certificate)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if a.ca, err = makeAuthority(d); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	default:
		if a.ca, err = crypto.GetCA(certificate, key, ""); err != nil {
			return nil, fmt.Errorf("reading the certificate authority %s: %w", certificate, err)
		}
	}
	if expires := a.ca.Config.Certs[0].NotAfter; time.Now().Add(certificateLifetime).After(expires) {
		return nil, fmt.Errorf("the certificate authority %s expires on %s: remove it and its key to get a new one",
			certificate, expires.Format(time.DateOnly))
	}
	if a.pem, err = crypto.EncodeCertificates(a.ca.Config.Certs...); err != nil {
		return nil, fmt.Errorf("encoding the certificate authority: %w", err)
	}
	return a, nil
}

// makeAuthority creates and writes a certificate authority. It writes the key first, so that an existing certificate always has its key.
func makeAuthority(d *dataDirectory) (*crypto.CA, error) {
	config, err := crypto.MakeSelfSignedCAConfigForDuration(fmt.Sprintf("placement-hub@%d", time.Now().Unix()), authorityLifetime)
	if err != nil {
		return nil, fmt.Errorf("making the certificate authority: %w", err)
	}
	certificate, key, err := config.GetPEMBytes()
	if err != nil {
		return nil, fmt.Errorf("encoding the certificate authority: %w", err)
	}
	if err := d.replace("ca.key", key); err != nil {
		return nil, err
	}
	if err := d.replace("ca.crt", certificate); err != nil {
		return nil, err
	}
	return &crypto.CA{Config: config, SerialGenerator: &crypto.RandomSerialGenerator{}}, nil
}

// client creates a client certificate for a user in groups.
func (a *authority) client(name string, groups []string) (certificate, key []byte, err error) {
	subject := crypto.UserToSubject(&user.DefaultInfo{Name: name, Groups: groups})
	template := crypto.NewClientCertificateTemplateForDuration(subject, certificateLifetime, time.Now)
	certificate, key, err = a.sign(template)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client certificate for user %q: %w", name, err)
	}
	return certificate, key, nil
}

// server creates a serving certificate for loopback.
func (a *authority) server() (certificate, key []byte, err error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: loopback},
		NotBefore:             time.Now().Add(-time.Second),
		NotAfter:              time.Now().Add(certificateLifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IPAddresses:           []net.IP{net.ParseIP(loopback)},
		DNSNames:              []string{"localhost", "kubernetes.default.svc"},
	}
	certificate, key, err = a.sign(template)
	if err != nil {
		return nil, nil, fmt.Errorf("making the serving certificate: %w", err)
	}
	return certificate, key, nil
}

// sign creates a key and its certificate.
func (a *authority) sign(template *x509.Certificate) (certificate, key []byte, err error) {
	private, key, err := makeKey()
	if err != nil {
		return nil, nil, err
	}
	signed, err := a.ca.SignCertificate(template, private.Public())
	if err != nil {
		return nil, nil, fmt.Errorf("signing: %w", err)
	}
	if certificate, err = crypto.EncodeCertificates(signed); err != nil {
		return nil, nil, fmt.Errorf("encoding: %w", err)
	}
	return certificate, key, nil
}

// makeKey creates an elliptic curve key, which is much faster than an RSA key, and its PEM.
func makeKey() (key *ecdsa.PrivateKey, file []byte, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	if file, err = crypto.EncodeKey(key); err != nil {
		return nil, nil, fmt.Errorf("encoding a key: %w", err)
	}
	return key, file, nil
}

// ensureServiceAccountKey creates the key that signs ServiceAccount tokens, unless the data directory has one.
func ensureServiceAccountKey(d *dataDirectory) (string, error) {
	path := d.file("service-account.key")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	_, key, err := makeKey()
	if err != nil {
		return "", fmt.Errorf("for service account tokens: %w", err)
	}
	return path, d.replace("service-account.key", key)
}
