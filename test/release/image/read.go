// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func emptyIndex() v1.ImageIndex { return mutate.IndexMediaType(empty.Index, types.OCIImageIndex) }

// Binaries returns the binary of each architecture in an index.
func Binaries(index v1.ImageIndex) (map[string][]byte, error) {
	binaries := map[string][]byte{}
	err := eachImage(index, func(architecture string, image v1.Image) error {
		reader := mutate.Extract(image)
		content, err := find(reader, Entrypoint)
		if err = errors.Join(err, reader.Close()); err != nil {
			return fmt.Errorf("reading the binary for %s: %w", architecture, err)
		}
		binaries[architecture] = content
		return nil
	})
	return binaries, err
}

func find(archive io.Reader, file string) ([]byte, error) {
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the image has no %s", file)
		}
		if err != nil {
			return nil, fmt.Errorf("reading a layer: %w", err)
		}
		if header.Name != strings.TrimPrefix(file, "/") {
			continue
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			return nil, fmt.Errorf("reading a layer: %w", err)
		}
		return content, nil
	}
}
