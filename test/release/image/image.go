// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	// User is the user and the group of the process: nonroot of distroless images, which manifests of others may name.
	User = "65532:65532"
	// Entrypoint is the path of the binary.
	Entrypoint = "/placement"
	// certificates is where Go programs look for authorities first.
	certificates = "etc/ssl/certs/ca-certificates.crt"
	// licenses is the directory with the texts of licenses.
	licenses = "usr/share/doc/placement-hub/"
)

// Options are what an image is made of.
type Options struct {
	// Binaries has the static binary of each architecture of Linux.
	Binaries map[string][]byte
	// Licenses are files with texts of licenses, by their names.
	Licenses map[string][]byte
	// Version and Commit are labels; Created is the time of all files, that of the commit.
	Version, Commit string
	Created         time.Time
}

// Build returns an index with an image for each architecture.
func Build(o Options) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range o.architectures() {
		image, err := o.build(architecture)
		if err != nil {
			return nil, fmt.Errorf("building the image for %s: %w", architecture, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}
	annotated, ok := mutate.Annotations(index, o.labels()).(v1.ImageIndex)
	if !ok {
		return nil, fmt.Errorf("annotating the index gave a %T", index)
	}
	return annotated, nil
}

func (o Options) architectures() []string { return sortedKeys(o.Binaries) }

// labels are the annotations of the index, and the labels of its images.
func (o Options) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    "placement-hub",
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.version":  o.Version,
		"org.opencontainers.image.revision": o.Commit,
		"org.opencontainers.image.created":  o.Created.UTC().Format(time.RFC3339),
	}
}

func (o Options) build(architecture string) (v1.Image, error) {
	base, err := o.layer(o.baseFiles())
	if err != nil {
		return nil, err
	}
	binary, err := o.layer([]file{{name: strings.TrimPrefix(Entrypoint, "/"), mode: 0o755, content: o.Binaries[architecture]}})
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: o.Created.UTC()}
	for _, addition := range []struct {
		layer v1.Layer
		by    string
	}{{base, "certificates, user and licenses"}, {binary, "the binary"}} {
		image, err = mutate.Append(image, mutate.Addendum{
			Layer: addition.layer, MediaType: types.OCILayer,
			History: v1.History{Created: created, CreatedBy: addition.by},
		})
		if err != nil {
			return nil, fmt.Errorf("adding a layer: %w", err)
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", architecture, created
	config.Config = v1.Config{
		User: User, Entrypoint: []string{Entrypoint}, Labels: o.labels(), WorkingDir: "/", Env: []string{"PATH=/", "SSL_CERT_FILE=/" + certificates},
	}
	image, err = mutate.ConfigFile(image, config)
	if err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	return image, nil
}

// file is a file of a layer, or a directory if its name ends with a slash.
type file struct {
	name    string
	mode    int64
	content []byte
}

func (o Options) baseFiles() []file {
	files := make([]file, 0, 4+len(o.Licenses))
	files = append(files,
		file{name: "etc/passwd", mode: 0o644, content: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		file{name: "etc/group", mode: 0o644, content: []byte("root:x:0:\nnonroot:x:65532:\n")},
		file{name: certificates, mode: 0o644, content: authorities()},
		file{name: "tmp/", mode: 0o1777},
	)
	for _, name := range sortedKeys(o.Licenses) {
		files = append(files, file{name: licenses + name, mode: 0o644, content: o.Licenses[name]})
	}
	return files
}

// authorities returns the certificates of the authorities that have no constraints beyond their certificate, which this format cannot express.
func authorities() []byte {
	var all bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			all.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return all.Bytes()
}

// layer returns a layer with files of root, and with the directories above them.
func (o Options) layer(files []file) (v1.Layer, error) {
	archive, err := o.archive(files)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive)), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("compressing a layer: %w", err)
	}
	return layer, nil
}

func (o Options) archive(files []file) ([]byte, error) {
	var archive bytes.Buffer
	out := tar.NewWriter(&archive)
	var made []string
	for _, f := range files {
		for _, directory := range parents(f.name) {
			if !slices.Contains(made, directory) {
				made = append(made, directory)
				if err := o.write(out, file{name: directory, mode: 0o755}); err != nil {
					return nil, err
				}
			}
		}
		if err := o.write(out, f); err != nil {
			return nil, err
		}
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("writing a layer: %w", err)
	}
	return archive.Bytes(), nil
}

func (o Options) write(out *tar.Writer, f file) error {
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: o.Created.UTC().Truncate(time.Second),
		Format: tar.FormatUSTAR,
	}
	if strings.HasSuffix(f.name, "/") {
		header.Typeflag = tar.TypeDir
	}
	if err := out.WriteHeader(header); err != nil {
		return fmt.Errorf("writing %s: %w", f.name, err)
	}
	if _, err := out.Write(f.content); err != nil {
		return fmt.Errorf("writing %s: %w", f.name, err)
	}
	return nil
}

// parents returns the directories above a file, outermost first, with a slash at the end.
func parents(name string) []string {
	var above []string
	for directory := path.Dir(strings.TrimSuffix(name, "/")); directory != "."; directory = path.Dir(directory) {
		above = append(above, directory+"/")
	}
	slices.Reverse(above)
	return above
}

func sortedKeys(files map[string][]byte) []string {
	keys := make([]string, 0, len(files))
	for key := range files {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
