// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// descriptor names a blob of an OCI layout.
type descriptor struct {
	Digest   string `json:"digest"`
	Platform struct {
		Architecture string `json:"architecture"`
	} `json:"platform"`
}

// config is the configuration of an image.
type config struct {
	Config struct {
		User       string   `json:"User"`
		Entrypoint []string `json:"Entrypoint"`
		Env        []string `json:"Env"`
	} `json:"config"`
}

// unpack writes the files of the image for an architecture below a directory, and returns its configuration. It reads the layout without the library
// that has written it.
func unpack(t *testing.T, layout, architecture, directory string) config {
	t.Helper()
	var outer, index struct {
		Manifests []descriptor `json:"manifests"`
	}
	content, err := os.ReadFile(filepath.Join(layout, "index.json"))
	suite.Must(t, err)
	suite.Must(t, json.Unmarshal(content, &outer))
	suite.Must(t, json.Unmarshal(blob(t, layout, outer.Manifests[0].Digest), &index))
	for _, one := range index.Manifests {
		if one.Platform.Architecture != architecture {
			continue
		}
		var manifest struct {
			Config descriptor   `json:"config"`
			Layers []descriptor `json:"layers"`
		}
		suite.Must(t, json.Unmarshal(blob(t, layout, one.Digest), &manifest))
		for _, layer := range manifest.Layers {
			suite.Must(t, unpackLayer(blob(t, layout, layer.Digest), directory))
		}
		var c config
		suite.Must(t, json.Unmarshal(blob(t, layout, manifest.Config.Digest), &c))
		return c
	}
	t.Fatalf("the layout has no image for %s: %+v", architecture, index)
	return config{}
}

// blob reads a blob, and checks its digest.
func blob(t *testing.T, layout, digest string) []byte {
	t.Helper()
	want, ok := strings.CutPrefix(digest, "sha256:")
	if !ok {
		t.Fatalf("digest %q", digest)
	}
	content, err := os.ReadFile(filepath.Join(layout, "blobs", "sha256", want))
	suite.Must(t, err)
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
		t.Fatalf("blob %s has the digest %x", want, sum)
	}
	return content
}

func unpackLayer(layer []byte, directory string) (err error) {
	compressed, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		return fmt.Errorf("reading a layer: %w", err)
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return fmt.Errorf("opening the directory: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a layer: %w", err)
		}
		name, mode := strings.TrimSuffix(header.Name, "/"), header.FileInfo().Mode()
		if header.Typeflag == tar.TypeDir {
			err = root.MkdirAll(name, 0o755)
		} else {
			var content []byte
			if content, err = io.ReadAll(archive); err == nil {
				err = root.WriteFile(name, content, 0o644)
			}
		}
		if err = errors.Join(err, root.Chmod(name, mode)); err != nil {
			return fmt.Errorf("unpacking %s: %w", name, err)
		}
	}
}
