// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func sample() Options {
	return Options{
		Binaries: map[string][]byte{"amd64": []byte("binary for amd64"), "arm64": []byte("binary for arm64")},
		Licenses: map[string][]byte{"LICENSE": []byte("Apache"), "NOTICE": []byte("by its authors")},
		Version:  "v1.2.3", Commit: "abc", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

func build(t *testing.T, o Options) v1.ImageIndex {
	t.Helper()
	index, err := Build(o)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func digest(t *testing.T, index v1.ImageIndex) string {
	t.Helper()
	hash, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return hash.String()
}

func TestTheDigestDependsOnTheInputsAlone(t *testing.T) {
	first := digest(t, build(t, sample()))
	again := sample()
	again.Created = again.Created.In(time.FixedZone("elsewhere", 3600))
	if second := digest(t, build(t, again)); second != first {
		t.Errorf("equal inputs gave %s and %s", first, second)
	}
	for reason, change := range map[string]func(*Options){
		"another binary":  func(o *Options) { o.Binaries["arm64"] = []byte("other") },
		"another license": func(o *Options) { o.Licenses["NOTICE"] = []byte("other") },
		"another version": func(o *Options) { o.Version = "v1.2.4" },
		"another time":    func(o *Options) { o.Created = o.Created.Add(time.Second) },
	} {
		o := sample()
		change(&o)
		if other := digest(t, build(t, o)); other == first {
			t.Errorf("%s gives the same digest", reason)
		}
	}
}

// contents returns the files of an image by their headers' names.
func contents(t *testing.T, image v1.Image) (headers map[string]*tar.Header, files map[string][]byte) {
	t.Helper()
	headers, files = map[string]*tar.Header{}, map[string][]byte{}
	reader := mutate.Extract(image)
	defer func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}()
	for archive := tar.NewReader(reader); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return headers, files
		}
		if err != nil {
			t.Fatal(err)
		}
		headers[header.Name] = header
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheImageHasWhatTheProcessNeeds(t *testing.T) {
	o := sample()
	index := build(t, o)
	seen := 0
	err := eachImage(index, func(architecture string, image v1.Image) error {
		seen++
		config, err := image.ConfigFile()
		if err != nil {
			return err
		}
		if config.OS != "linux" || config.Architecture != architecture || config.Config.User != User || !config.Created.Equal(o.Created) ||
			!cmp.Equal(config.Config.Entrypoint, []string{Entrypoint}) || config.Config.Labels["org.opencontainers.image.version"] != o.Version {
			t.Errorf("%s: the configuration is %+v", architecture, config)
		}
		headers, files := contents(t, image)
		for name, header := range headers {
			if header.Uid != 0 || header.Gid != 0 || !header.ModTime.Equal(o.Created) || (header.Mode&0o022 != 0 && name != "tmp") {
				t.Errorf("%s: %s is of %d:%d, with mode %o and time %s", architecture, name, header.Uid, header.Gid, header.Mode, header.ModTime)
			}
		}
		if got := files["placement"]; !bytes.Equal(got, o.Binaries[architecture]) || headers["placement"].Mode != 0o755 {
			t.Errorf("%s: the binary is %q, with mode %o", architecture, got, headers["placement"].Mode)
		}
		if !bytes.Contains(files["etc/passwd"], []byte("nonroot:x:"+User+":")) {
			t.Errorf("%s: the user has no entry in %q", architecture, files["etc/passwd"])
		}
		if headers["tmp"] == nil || headers["tmp"].Mode != 0o1777 {
			t.Errorf("%s: tmp is %+v", architecture, headers["tmp"])
		}
		if got := string(files[licenses+"NOTICE"]); got != "by its authors" {
			t.Errorf("%s: the notice is %q", architecture, got)
		}
		checkAuthorities(t, files[certificates])
		return nil
	})
	if err != nil || seen != 2 {
		t.Errorf("%d images, error %v", seen, err)
	}
	binaries, err := Binaries(index)
	if diff := cmp.Diff(o.Binaries, binaries); diff != "" || err != nil {
		t.Errorf("binaries (-want +got):\n%s\nerror: %v", diff, err)
	}
}

// checkAuthorities checks that all certificates can be read, and are many.
func checkAuthorities(t *testing.T, content []byte) {
	t.Helper()
	count := 0
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if !certificate.IsCA {
			t.Errorf("%s is no authority", certificate.Subject)
		}
		count++
	}
	if count < 50 {
		t.Errorf("%d authorities", count)
	}
}

func TestSavedImagesAreReadAndLoaded(t *testing.T) {
	directory := t.TempDir()
	index := build(t, sample())
	const tag = "placement-hub:v1.2.3"
	for range 2 { // A later build replaces the former.
		if err := Save(directory, tag, index); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := Open(directory)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(opened); err != nil {
		t.Error(err)
	}
	if got, want := digest(t, opened), digest(t, index); got != want {
		t.Errorf("the layout has %s, want %s", got, want)
	}
	reference, err := name.NewTag(tag)
	if err != nil {
		t.Fatal(err)
	}
	for _, architecture := range []string{"amd64", "arm64"} {
		loaded, err := tarball.ImageFromPath(filepath.Join(directory, ArchiveName(architecture)), &reference)
		if err != nil {
			t.Fatal(err)
		}
		config, err := loaded.ConfigFile()
		if err != nil || config.Architecture != architecture || config.Config.User != User {
			t.Errorf("%s: the archive has the configuration %+v, error %v", architecture, config, err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("an empty directory has an image")
	}
	if err := Save(directory, "not a name", index); err == nil {
		t.Error("a wrong name is taken")
	}
}

func TestPushedImagesAreThoseThatWereBuilt(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	index := build(t, sample())
	pushed, err := Push(t.Context(), host+"/team/placement-hub:v1.2.3", index)
	if err != nil {
		t.Fatal(err)
	}
	if want := host + "/team/placement-hub@" + digest(t, index); pushed != want {
		t.Errorf("pushed %s, want %s", pushed, want)
	}
	for _, at := range []string{pushed, host + "/team/placement-hub:v1.2.3"} {
		reference, err := name.ParseReference(at)
		if err != nil {
			t.Fatal(err)
		}
		pulled, err := remote.Index(reference)
		if err != nil {
			t.Fatal(err)
		}
		binaries, err := Binaries(pulled)
		if diff := cmp.Diff(sample().Binaries, binaries); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s\nerror: %v", at, diff, err)
		}
	}
	if _, err := Push(t.Context(), "placement-hub", index); err == nil || !strings.Contains(err.Error(), "host/name:tag") {
		t.Errorf("a name without host and tag: %v", err)
	}
}
