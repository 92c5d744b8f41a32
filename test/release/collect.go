// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/test/release/image"
)

// The files of a release, besides the binaries, the archives of the image, the licenses, the check sums and their signature.
const (
	manifestFile = "release.json"
	sbomFile     = "placement-hub.spdx.json"
	layoutFile   = "placement-hub-oci.tar"
	crdFile      = "crds.yaml"
	deployFile   = "deploy.tar.gz"
)

// systems are those of the binaries, each for all architectures.
var systems = []string{"linux", "darwin"}

// manifest says what a release is.
type manifest struct {
	Version     string   `json:"version"`
	Commit      string   `json:"commit"`
	Created     int64    `json:"created"`
	GoVersion   string   `json:"goVersion"`
	ImageDigest string   `json:"imageDigest"`
	Platforms   []string `json:"platforms"`
}

func binaryName(platform string) string { return "placement-" + strings.ReplaceAll(platform, "/", "-") }

// collect writes everything that is released into a new directory, and prints its name.
func collect(ctx context.Context, o *options, stdout io.Writer) error {
	if strings.HasSuffix(o.version, "-dirty") || strings.HasSuffix(o.commit, "-dirty") {
		return fmt.Errorf("version %s, commit %s: commit everything first, so that others can build the same", o.version, o.commit)
	}
	directory := filepath.Join(o.out, "placement-hub-"+o.version)
	if err := os.RemoveAll(directory); err != nil {
		return fmt.Errorf("removing a former release: %w", err)
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("making the directory of the release: %w", err)
	}
	m := manifest{Version: o.version, Commit: o.commit, Created: o.created}
	binaries, err := o.collectBinaries(ctx, directory, &m)
	if err != nil {
		return err
	}
	if err := o.collectImage(ctx, directory, &m, binaries); err != nil {
		return err
	}
	if err := o.describe(directory, m, binaries); err != nil {
		return err
	}
	if err := errors.Join(o.collectManifests(directory), o.collectLicenses(ctx, directory), writeSums(directory)); err != nil {
		return err
	}
	if o.key != "" {
		if err := sign(directory, o.key); err != nil {
			return err
		}
	}
	if err := o.freezeSurface(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, directory); err != nil {
		return fmt.Errorf("printing the directory: %w", err)
	}
	return nil
}

// collectBinaries writes the binary of each platform.
func (o *options) collectBinaries(ctx context.Context, directory string, m *manifest) (map[string][]byte, error) {
	binaries := map[string][]byte{}
	for _, system := range systems {
		for architecture := range strings.SplitSeq(o.architectures, ",") {
			content, err := o.binary(ctx, system, architecture)
			if err != nil {
				return nil, err
			}
			platform := system + "/" + architecture
			m.Platforms = append(m.Platforms, platform)
			binaries[binaryName(platform)] = content
			path := filepath.Join(directory, binaryName(platform))
			if err := os.WriteFile(path, content, 0o755); err != nil {
				return nil, fmt.Errorf("writing a binary: %w", err)
			}
		}
	}
	return binaries, nil
}

// describe writes the SBOM and the description of the release.
func (o *options) describe(directory string, m manifest, binaries map[string][]byte) error {
	modules, goVersion, err := builtFrom(binaries)
	if err != nil {
		return err
	}
	m.GoVersion = goVersion
	document, err := newSBOM(o.root, o, modules, goVersion)
	if err != nil {
		return err
	}
	sbom, err := encodeSBOM(document)
	if err != nil {
		return err
	}
	described, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the description: %w", err)
	}
	return errors.Join(
		writeFile(filepath.Join(directory, sbomFile), sbom), writeFile(filepath.Join(directory, manifestFile), append(described, '\n')),
	)
}

// collectImage writes the archives of the image with the binaries for Linux.
func (o *options) collectImage(ctx context.Context, directory string, m *manifest, binaries map[string][]byte) (err error) {
	linux := map[string][]byte{}
	for architecture := range strings.SplitSeq(o.architectures, ",") {
		linux[architecture] = binaries[binaryName("linux/"+architecture)]
	}
	built, err := o.imageOf(ctx, linux)
	if err != nil {
		return err
	}
	digest, err := built.Digest()
	if err != nil {
		return fmt.Errorf("computing the digest: %w", err)
	}
	m.ImageDigest = digest.String()
	saved, err := os.MkdirTemp("", "placement-release-")
	if err != nil {
		return fmt.Errorf("making a temporary directory: %w", err)
	}
	defer func() {
		if removed := os.RemoveAll(saved); err == nil && removed != nil {
			err = fmt.Errorf("removing a temporary directory: %w", removed)
		}
	}()
	if err := image.Save(saved, o.tag, built); err != nil {
		return err
	}
	archive, err := archiveOf(filepath.Join(saved, image.LayoutDirectory), o.time(), func(string) bool { return true })
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(directory, layoutFile), archive); err != nil {
		return err
	}
	for architecture := range linux {
		content, err := os.ReadFile(filepath.Join(saved, image.ArchiveName(architecture)))
		if err != nil {
			return fmt.Errorf("reading an archive of the image: %w", err)
		}
		if err := writeFile(filepath.Join(directory, image.ArchiveName(architecture)), content); err != nil {
			return err
		}
	}
	return nil
}

// collectManifests writes the CustomResourceDefinitions in one file, and an archive with all manifests and kustomizations.
func (o *options) collectManifests(directory string) error {
	definitions, err := filepath.Glob(filepath.Join(o.root, "manifests", "crds", "*.yaml"))
	if err != nil || len(definitions) == 0 {
		return fmt.Errorf("no CustomResourceDefinitions in %s: %w", o.root, err)
	}
	var all bytes.Buffer
	for _, file := range definitions {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a CustomResourceDefinition: %w", err)
		}
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		fmt.Fprintf(&all, "---\n%s\n", bytes.TrimSpace(bytes.TrimPrefix(content, []byte("---\n"))))
	}
	archive, err := archiveOf(o.root, o.time(), func(name string) bool {
		top, _, _ := strings.Cut(name, "/")
		return (top == "manifests" || top == "deploy") && !strings.HasSuffix(name, ".go") && !strings.Contains(name, "/internal/")
	})
	if err != nil {
		return err
	}
	var compressed bytes.Buffer
	out := gzip.NewWriter(&compressed)
	if _, err := out.Write(archive); err != nil {
		return fmt.Errorf("compressing the manifests: %w", err)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("compressing the manifests: %w", err)
	}
	return errors.Join(writeFile(filepath.Join(directory, crdFile), all.Bytes()), writeFile(filepath.Join(directory, deployFile), compressed.Bytes()))
}

func (o *options) collectLicenses(ctx context.Context, directory string) error {
	texts, err := o.licenses(ctx)
	if err != nil {
		return err
	}
	for name, content := range texts {
		if err := writeFile(filepath.Join(directory, name), content); err != nil {
			return err
		}
	}
	return nil
}

// freezeSurface copies the golden files of the surface, with which later changes are compared.
func (o *options) freezeSurface() error {
	surface := filepath.Join(o.root, "test", "surface")
	former, err := filepath.Glob(filepath.Join(surface, "released", "*.txt"))
	if err != nil {
		return fmt.Errorf("listing the former surface: %w", err)
	}
	for _, file := range former {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing the former surface: %w", err)
		}
	}
	current, err := filepath.Glob(filepath.Join(surface, "testdata", "*.txt"))
	if err != nil || len(current) == 0 {
		return fmt.Errorf("no golden files in %s: %w", surface, err)
	}
	for _, file := range current {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading the surface: %w", err)
		}
		if err := writeFile(filepath.Join(surface, "released", filepath.Base(file)), content); err != nil {
			return err
		}
	}
	o.printf("test/surface/released has the surface of %s: commit it", o.version)
	return nil
}

// archiveOf returns a tar archive with the files of a directory whose paths are taken, sorted, with one time.
func archiveOf(root string, at time.Time, take func(name string) bool) ([]byte, error) {
	names, err := filesBelow(root, take)
	if err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	out := tar.NewWriter(&archive)
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("reading a file of an archive: %w", err)
		}
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: at, Format: tar.FormatUSTAR}
		if err := out.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("writing an archive: %w", err)
		}
		if _, err := out.Write(content); err != nil {
			return nil, fmt.Errorf("writing an archive: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("writing an archive: %w", err)
	}
	return archive.Bytes(), nil
}

// filesBelow returns the paths of the files below a directory that are taken, sorted.
func filesBelow(root string, take func(name string) bool) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err //nolint:wrapcheck // It is wrapped below.
		}
		name = filepath.ToSlash(name)
		top, _, _ := strings.Cut(name, "/")
		if entry.IsDir() && (top == "vendor" || top == "bin" || (top != "." && strings.HasPrefix(top, "."))) {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() && take(name) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the files of an archive: %w", err)
	}
	slices.Sort(names)
	return names, nil
}
