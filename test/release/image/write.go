// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// LayoutDirectory is the directory of the OCI layout below the directory of Save.
const LayoutDirectory = "oci"

// ArchiveName returns the name of the archive of an architecture, which `docker load` and `podman load` read.
func ArchiveName(architecture string) string { return "placement-hub-linux-" + architecture + ".tar" }

// Save writes an OCI layout with the index, and an archive for each architecture that container engines load under the tag. What was in the
// directory from a former build is replaced.
func Save(directory, tag string, index v1.ImageIndex) error {
	reference, err := name.NewTag(tag)
	if err != nil {
		return fmt.Errorf("the name of the image: %w", err)
	}
	if err := os.RemoveAll(filepath.Join(directory, LayoutDirectory)); err != nil {
		return fmt.Errorf("removing the former layout: %w", err)
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("making the directory: %w", err)
	}
	// Writers of layouts put their index below an index with the names of images.
	outer, err := layout.Write(filepath.Join(directory, LayoutDirectory), emptyIndex())
	if err != nil {
		return fmt.Errorf("writing the layout: %w", err)
	}
	named := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": reference.TagStr()})
	if err := outer.AppendIndex(index, named); err != nil {
		return fmt.Errorf("writing the layout: %w", err)
	}
	return eachImage(index, func(architecture string, image v1.Image) error {
		if err := tarball.WriteToFile(filepath.Join(directory, ArchiveName(architecture)), reference, image); err != nil {
			return fmt.Errorf("writing the archive for %s: %w", architecture, err)
		}
		return nil
	})
}

// Open reads the index from the layout in a directory of Save.
func Open(directory string) (v1.ImageIndex, error) {
	outer, err := layout.ImageIndexFromPath(filepath.Join(directory, LayoutDirectory))
	if err != nil {
		return nil, fmt.Errorf("reading the layout: %w", err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("reading the layout: %w", err)
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("the layout in %s has %d indexes, and not one", directory, len(manifest.Manifests))
	}
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		return nil, fmt.Errorf("reading the layout: %w", err)
	}
	return index, nil
}

// Push uploads the index to a registry, and returns the reference with its digest. Credentials are those of `docker login`.
func Push(ctx context.Context, to string, index v1.ImageIndex) (string, error) {
	reference, err := name.NewTag(to, name.StrictValidation)
	if err != nil {
		return "", fmt.Errorf("the name of the image has to be host/name:tag: %w", err)
	}
	err = remote.WriteIndex(reference, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return "", fmt.Errorf("pushing to %s: %w", reference, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return "", fmt.Errorf("computing the digest: %w", err)
	}
	return reference.Context().Digest(digest.String()).String(), nil
}

// eachImage calls a function for the image of each architecture.
func eachImage(index v1.ImageIndex, do func(architecture string, image v1.Image) error) error {
	manifest, err := index.IndexManifest()
	if err != nil {
		return fmt.Errorf("reading the index: %w", err)
	}
	for _, descriptor := range manifest.Manifests {
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			return fmt.Errorf("reading an image: %w", err)
		}
		if err := do(descriptor.Platform.Architecture, image); err != nil {
			return err
		}
	}
	return nil
}
