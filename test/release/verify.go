// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/test/release/image"
)

// verify checks a release. Nothing is fetched.
func verify(ctx context.Context, o *options, stdout io.Writer) error {
	content, err := os.ReadFile(filepath.Join(o.out, manifestFile))
	if err != nil {
		return fmt.Errorf("reading the description of the release: %w; name the directory of a release", err)
	}
	var m manifest
	if err := json.Unmarshal(content, &m); err != nil {
		return fmt.Errorf("%s: %w", manifestFile, err)
	}
	o.version, o.commit, o.created = m.Version, m.Commit, m.Created
	binaries := map[string][]byte{}
	steps := []struct {
		name string
		do   func() error
	}{
		{"check sums", func() error { return checkSums(o.out) }},
		{"signature", func() error {
			if o.publicKey == "" {
				return nil
			}
			return checkSignature(o.out, o.publicKey)
		}},
		{"SBOM and build information", func() error { return o.verifySBOM(m, binaries) }},
		{"image", func() error { return o.verifyImage(m, binaries) }},
		{"placement version", func() error { return o.verifyVersion(ctx, m, binaries) }},
		{"rebuilt image", func() error {
			if !o.rebuild {
				return nil
			}
			return o.verifyRebuild(ctx, m)
		}},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		switch {
		case step.name == "signature" && o.publicKey == "":
			o.printf("signature: not checked; name the public key with PUBLIC_KEY=file")
		case step.name == "rebuilt image" && !o.rebuild:
			o.printf("rebuilt image: not built; REBUILD=1 does")
		default:
			o.printf("%s: in order", step.name)
		}
	}
	if _, err := fmt.Fprintf(stdout, "placement-hub %s, commit %s, image %s\n", m.Version, m.Commit, m.ImageDigest); err != nil {
		return fmt.Errorf("printing the result: %w", err)
	}
	return nil
}

// verifySBOM reads the binaries, and compares the SBOM with their build information.
func (o *options) verifySBOM(m manifest, binaries map[string][]byte) error {
	for _, platform := range m.Platforms {
		content, err := os.ReadFile(filepath.Join(o.out, binaryName(platform)))
		if err != nil {
			return fmt.Errorf("reading a binary: %w", err)
		}
		binaries[binaryName(platform)] = content
	}
	modules, goVersion, err := builtFrom(binaries)
	if err != nil {
		return err
	}
	if goVersion != m.GoVersion {
		return fmt.Errorf("the binaries were built with %s, %s says %s", goVersion, manifestFile, m.GoVersion)
	}
	content, err := os.ReadFile(filepath.Join(o.out, sbomFile))
	if err != nil {
		return fmt.Errorf("reading the SBOM: %w", err)
	}
	document, err := decodeSBOM(content)
	if err != nil {
		return err
	}
	return checkSBOM(document, o.root, modules, goVersion)
}

// verifyImage checks that the layout has the digest of the description, and the binaries of the release.
func (o *options) verifyImage(m manifest, binaries map[string][]byte) (err error) {
	directory, err := os.MkdirTemp("", "placement-release-")
	if err != nil {
		return fmt.Errorf("making a temporary directory: %w", err)
	}
	defer func() {
		if removed := os.RemoveAll(directory); err == nil && removed != nil {
			err = fmt.Errorf("removing a temporary directory: %w", removed)
		}
	}()
	archive, err := os.ReadFile(filepath.Join(o.out, layoutFile))
	if err != nil {
		return fmt.Errorf("reading the image: %w", err)
	}
	if err := unpack(archive, filepath.Join(directory, image.LayoutDirectory)); err != nil {
		return err
	}
	index, err := image.Open(directory)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return fmt.Errorf("computing the digest: %w", err)
	}
	if digest.String() != m.ImageDigest {
		return fmt.Errorf("the image has the digest %s, %s says %s", digest, manifestFile, m.ImageDigest)
	}
	within, err := image.Binaries(index)
	if err != nil {
		return err
	}
	var failures []error
	for architecture, content := range within {
		if !bytes.Equal(content, binaries[binaryName("linux/"+architecture)]) {
			failures = append(failures, fmt.Errorf("the image for %s has another binary than the release", architecture))
		}
	}
	return errors.Join(failures...)
}

// unpack writes the files of an archive of archiveOf below a directory.
func unpack(archive []byte, directory string) error {
	root, err := openRoot(directory)
	if err != nil {
		return err
	}
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return closeRoot(root)
		}
		if err != nil {
			return fmt.Errorf("reading an archive: %w", err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			return fmt.Errorf("reading an archive: %w", err)
		}
		name := filepath.FromSlash(header.Name)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("unpacking: %w", err)
		}
		if err := root.WriteFile(name, content, 0o600); err != nil {
			return fmt.Errorf("unpacking: %w", err)
		}
	}
}

func openRoot(directory string) (*os.Root, error) {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return nil, fmt.Errorf("making a directory: %w", err)
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, fmt.Errorf("opening a directory: %w", err)
	}
	return root, nil
}

func closeRoot(root *os.Root) error {
	if err := root.Close(); err != nil {
		return fmt.Errorf("closing a directory: %w", err)
	}
	return nil
}

// verifyVersion runs the binary for this machine, whose version has to be that of the release, as its modules have to.
func (o *options) verifyVersion(ctx context.Context, m manifest, binaries map[string][]byte) error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if !slices.Contains(m.Platforms, platform) {
		return nil // No binary of the release runs here.
	}
	path, err := filepath.Abs(filepath.Join(o.out, binaryName(platform)))
	if err != nil {
		return fmt.Errorf("finding the binary: %w", err)
	}
	output, err := exec.CommandContext(ctx, path, "version", "-o", "json").Output()
	if err != nil {
		return fmt.Errorf("running %s: %w", binaryName(platform), err)
	}
	var said struct {
		Version   string            `json:"version"`
		Commit    string            `json:"commit"`
		GoVersion string            `json:"goVersion"`
		Modules   map[string]string `json:"modules"`
	}
	if err := json.Unmarshal(output, &said); err != nil {
		return fmt.Errorf("decoding the version: %w", err)
	}
	if said.Version != m.Version || said.Commit != m.Commit || said.GoVersion != m.GoVersion {
		return fmt.Errorf("the binary says version %s, commit %s, %s; %s says %s, %s, %s", said.Version, said.Commit, said.GoVersion, manifestFile,
			m.Version, m.Commit, m.GoVersion)
	}
	modules, _, err := builtFrom(binaries)
	if err != nil {
		return err
	}
	for path, version := range said.Modules {
		if modules[path] != version {
			return fmt.Errorf("the binary says %s %s, its build information %q", path, version, modules[path])
		}
	}
	return nil
}

// verifyRebuild builds the image again, from sources of the same commit and with the same Go, and compares the digest.
func (o *options) verifyRebuild(ctx context.Context, m manifest) error {
	output, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	if err != nil {
		return fmt.Errorf("asking for the version of Go: %w", err)
	}
	if own := strings.TrimSpace(string(output)); own != m.GoVersion {
		return fmt.Errorf("the release was built with %s, this is %s: set GOTOOLCHAIN=%s", m.GoVersion, own, m.GoVersion)
	}
	built, err := o.image(ctx)
	if err != nil {
		return err
	}
	digest, err := built.Digest()
	if err != nil {
		return fmt.Errorf("computing the digest: %w", err)
	}
	if digest.String() != m.ImageDigest {
		return fmt.Errorf("these sources give %s, and not %s: are they those of commit %s?", digest, m.ImageDigest, m.Commit)
	}
	return nil
}
