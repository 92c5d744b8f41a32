// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"slices"
	"time"

	"github.com/openshift/library-go/pkg/crypto"
)

// Schedule has the lifetimes of certificates. Every field is above 0.
type Schedule struct {
	// Authority and Serving are the lifetimes of a certificate authority and of a serving certificate. Each is renewed after two thirds of
	// it.
	Authority, Serving time.Duration
	// Trust is how long an authority must be in the bundle before a certificate that only it has signed is served.
	Trust time.Duration
	// Skew is how far the clock of an API server may be behind: NotBefore of certificates is that much in the past.
	Skew time.Duration
}

// Standard returns lifetimes of a year for an authority and 90 days for a serving certificate.
func Standard() Schedule {
	return Schedule{Authority: 365 * 24 * time.Hour, Serving: 90 * 24 * time.Hour, Trust: time.Hour, Skew: 5 * time.Minute}
}

// Next returns the Material to use from now on, for these host names and IP addresses, and the time of the next call. It returns held while
// nothing is due. An error means that a key or certificate could not be created; invalid Material is replaced without an error.
func (s Schedule) Next(held Material, hosts []string, now time.Time) (next Material, again time.Time, err error) {
	next = held
	authorities := held.authorities(now)
	signer := held.signer(authorities, now)
	if signer == nil || !now.Before(renewal(signer.Config.Certs[0])) {
		if signer, next.AuthorityKey, err = s.makeAuthority(now); err != nil {
			return held, now, err
		}
		authorities = slices.Insert(authorities, 0, signer.Config.Certs[0])
	}

	if next.Bundle, err = crypto.EncodeCertificates(authorities...); err != nil {
		return held, now, fmt.Errorf("encoding the certificate authorities: %w", err)
	}
	newest := authorities[0]
	trusted := newest.NotBefore.Add(s.Skew + s.Trust)
	due := func(served *x509.Certificate) time.Time { return later(s.wanted(served, newest), trusted) }

	served := held.served(authorities, hosts, now)
	if served == nil || !now.Before(due(served)) {
		if served, next.Certificate, next.Key, err = s.makeServing(signer, hosts, now); err != nil {
			return held, now, err
		}
	}
	again = earlier(renewal(newest), due(served))
	for _, authority := range authorities {
		again = earlier(again, authority.NotAfter)
	}
	return next, again, nil
}

// wanted returns the time from which on the serving certificate should be replaced.
func (Schedule) wanted(served, newest *x509.Certificate) time.Time {
	if served.CheckSignatureFrom(newest) != nil {
		return newest.NotBefore // An older authority has signed it.
	}
	return renewal(served)
}

// renewal returns the time after two thirds of the lifetime of a certificate.
func renewal(certificate *x509.Certificate) time.Time {
	return certificate.NotBefore.Add(certificate.NotAfter.Sub(certificate.NotBefore) * 2 / 3)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// makeAuthority creates a certificate authority and its key.
func (s Schedule) makeAuthority(now time.Time) (authority *crypto.CA, key []byte, err error) {
	private, key, err := makeKey()
	if err != nil {
		return nil, nil, fmt.Errorf("making a certificate authority: %w", err)
	}

	template := &x509.Certificate{
		// The name distinguishes one authority from the next.
		Subject:               pkix.Name{CommonName: fmt.Sprintf("placement-webhook@%d", now.Unix())},
		NotBefore:             now.Add(-s.Skew),
		NotAfter:              now.Add(s.Authority),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}

	// A self-signed authority is the issuer of its own template.
	self := &crypto.CA{
		Config:          &crypto.TLSCertificateConfig{Certs: []*x509.Certificate{template}, Key: private},
		SerialGenerator: &crypto.RandomSerialGenerator{},
	}

	certificate, err := self.SignCertificate(template, private.Public())
	if err != nil {
		return nil, nil, fmt.Errorf("making a certificate authority: %w", err)
	}
	self.Config.Certs[0] = certificate
	return self, key, nil
}

// makeServing creates a serving certificate and its key.
func (s Schedule) makeServing(signer *crypto.CA, hosts []string, now time.Time) (leaf *x509.Certificate, certificate, key []byte, err error) {
	private, key, err := makeKey()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("making a serving certificate: %w", err)
	}

	addresses, names := crypto.IPAddressesDNSNames(hosts)
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "placement-webhook"},
		NotBefore:             now.Add(-s.Skew),
		NotAfter:              earlier(now.Add(s.Serving), signer.Config.Certs[0].NotAfter),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IPAddresses:           addresses,
		DNSNames:              names,
	}

	leaf, err = signer.SignCertificate(template, private.Public())
	if err == nil {
		certificate, err = crypto.EncodeCertificates(leaf)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("making a serving certificate for %q: %w", hosts, err)
	}
	return leaf, certificate, key, nil
}

// makeKey creates an elliptic curve key, and its PEM.
func makeKey() (private *ecdsa.PrivateKey, key []byte, err error) {
	if private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	if key, err = crypto.EncodeKey(private); err != nil {
		return nil, nil, fmt.Errorf("encoding a key: %w", err)
	}
	return private, key, nil
}
