// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	sumsFile      = "SHA256SUMS"
	signatureFile = sumsFile + ".sig"
)

// writeSums writes the check sums of all files of a directory, as `sha256sum` does.
func writeSums(directory string) error {
	names, err := releasedFiles(directory)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil {
			return fmt.Errorf("summing: %w", err)
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return writeFile(filepath.Join(directory, sumsFile), sums.Bytes())
}

// releasedFiles returns the names of the files that have check sums, sorted.
func releasedFiles(directory string) ([]string, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("listing the release: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			return nil, fmt.Errorf("%s is no file; a release has files alone", entry.Name())
		}
		if entry.Name() != sumsFile && entry.Name() != signatureFile {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// checkSums returns an error that names every file that is missing, superfluous or changed.
func checkSums(directory string) error {
	sums, err := os.ReadFile(filepath.Join(directory, sumsFile))
	if err != nil {
		return fmt.Errorf("reading the check sums: %w", err)
	}
	present, err := releasedFiles(directory)
	if err != nil {
		return err
	}
	var failures []error
	var listed []string
	for scanner := bufio.NewScanner(bytes.NewReader(sums)); scanner.Scan(); {
		want, name, ok := strings.Cut(scanner.Text(), "  ")
		if !ok || name != filepath.Base(name) {
			return fmt.Errorf("%s: no check sum: %q", sumsFile, scanner.Text())
		}
		listed = append(listed, name)
		content, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
			failures = append(failures, fmt.Errorf("%s does not have the check sum of %s", name, sumsFile))
		}
	}
	for _, name := range present {
		if !slices.Contains(listed, name) {
			failures = append(failures, fmt.Errorf("%s is not in %s", name, sumsFile))
		}
	}
	return errors.Join(failures...)
}

// sign signs the check sums with a key. The signature is ECDSA over SHA-256, in base64, as cosign has it; openssl takes what is decoded.
func sign(directory, keyFile string) error {
	key, err := readKey(keyFile)
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(directory, sumsFile))
	if err != nil {
		return fmt.Errorf("reading the check sums: %w", err)
	}
	digest := sha256.Sum256(sums)
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		return fmt.Errorf("signing: %w", err)
	}
	return writeFile(filepath.Join(directory, signatureFile), []byte(base64.StdEncoding.EncodeToString(signature)+"\n"))
}

// readKey reads a private key as `openssl ecparam -genkey -name prime256v1` or `openssl genpkey` writes it.
func readKey(file string) (*ecdsa.PrivateKey, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		var key *ecdsa.PrivateKey
		switch block.Type {
		case "EC PRIVATE KEY":
			if key, err = x509.ParseECPrivateKey(block.Bytes); err != nil {
				return nil, fmt.Errorf("reading the key: %w", err)
			}
		case "PRIVATE KEY":
			parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("reading the key: %w", err)
			}
			key, _ = parsed.(*ecdsa.PrivateKey)
		default:
			continue // openssl writes the parameters of the curve before the key.
		}
		if key == nil || key.Curve != elliptic.P256() {
			return nil, fmt.Errorf("%s has no ECDSA key of P-256", file)
		}
		return key, nil
	}
	return nil, fmt.Errorf("%s has no private key in PEM; make one with: openssl ecparam -genkey -noout -name prime256v1", file)
}

// checkSignature checks the signature of the check sums with a public key.
func checkSignature(directory, keyFile string) error {
	content, err := os.ReadFile(keyFile)
	if err != nil {
		return fmt.Errorf("reading the public key: %w", err)
	}
	block, _ := pem.Decode(content)
	if block == nil || block.Type != "PUBLIC KEY" {
		return fmt.Errorf("%s has no public key in PEM", keyFile)
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return fmt.Errorf("reading the public key: %w", err)
	}
	key, ok := parsed.(*ecdsa.PublicKey)
	if !ok {
		return fmt.Errorf("%s has no ECDSA key", keyFile)
	}
	encoded, err := os.ReadFile(filepath.Join(directory, signatureFile))
	if err != nil {
		return fmt.Errorf("reading the signature: %w", err)
	}
	signature, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(encoded)))
	if err != nil {
		return fmt.Errorf("%s: %w", signatureFile, err)
	}
	sums, err := os.ReadFile(filepath.Join(directory, sumsFile))
	if err != nil {
		return fmt.Errorf("reading the check sums: %w", err)
	}
	if digest := sha256.Sum256(sums); !ecdsa.VerifyASN1(key, digest[:], signature) {
		return fmt.Errorf("%s is no signature of %s with this key", signatureFile, sumsFile)
	}
	return nil
}

// writeFile writes a file that everybody may read.
func writeFile(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("writing a file of the release: %w", err)
	}
	return nil
}
