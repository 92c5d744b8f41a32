// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// server is an index with archives on loopback.
type server struct {
	*httptest.Server
	requests []string
	archive  []byte
	hash     string
	versions []string
	status   int
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{versions: []string{"1.36.4", "1.37.0", "1.37.1", "1.38.0"}, status: http.StatusOK}
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	out := tar.NewWriter(compressed)
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		content := "#!/bin/sh\necho " + name + "\n"
		err := out.WriteHeader(&tar.Header{Name: "controller-tools/envtest/" + name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = io.WriteString(out, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	s.archive = archive.Bytes()
	sum := sha512.Sum512(s.archive)
	s.hash = hex.EncodeToString(sum[:])
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests = append(s.requests, r.URL.Path)
		w.WriteHeader(s.status)
		if r.URL.Path == "/index.yaml" {
			fmt.Fprint(w, "releases:\n")
			for _, version := range s.versions {
				name := "envtest-v" + version + "-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
				fmt.Fprintf(w, "  v%s:\n    %s:\n      hash: %q\n      selfLink: %s/releases/%s\n", version, name, s.hash, s.URL, name)
			}
			return
		}
		if _, err := w.Write(s.archive); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// get runs the command against the server.
func get(ctx context.Context, t *testing.T, index, directory string, more ...string) (stdout, stderr string, err error) {
	t.Helper()
	former := http.DefaultClient
	t.Cleanup(func() { http.DefaultClient = former })
	t.Setenv("HTTP_PROXY", "")
	var out, progress bytes.Buffer
	err = run(ctx, append([]string{"-version", "1.37", "-index", index, "-store", directory}, more...), &out, &progress)
	return strings.TrimSpace(out.String()), progress.String(), err
}

// kept returns what is in a store.
func kept(t *testing.T, directory string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(directory, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := filepath.Glob(filepath.Join(directory, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(found, hidden)
}

func archiveName(version string) string {
	return "envtest-v" + version + "-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
}

func TestTheNewestVersionOfTheMinorIsStored(t *testing.T) {
	s, directory := newServer(t), t.TempDir()
	t.Cleanup(func() {
		if err := removeAll(filepath.Join(directory, "k8s")); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // The second time replaces what is there.
		path, progress, err := get(t.Context(), t, s.URL+"/index.yaml", directory)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(directory, "k8s", "1.37.1-"+runtime.GOOS+"-"+runtime.GOARCH); path != want {
			t.Errorf("stored in %s, want %s", path, want)
		}
		info, err := os.Stat(filepath.Join(path, "kube-apiserver"))
		if err != nil || info.Mode().Perm()&0o111 == 0 {
			t.Errorf("kube-apiserver: %v, error %v", info, err)
		}
		// Each URL is said before the archive is.
		for _, part := range []string{"GET " + s.URL + "/index.yaml\n", "GET " + s.URL + "/releases/" + archiveName("1.37.1") + "\n", "SHA-512"} {
			if !strings.Contains(progress, part) {
				t.Errorf("progress lacks %q:\n%s", part, progress)
			}
		}
		if found := kept(t, directory); len(found) != 1 {
			t.Errorf("the store has %v", found)
		}
	}
}

func TestArchivesComeFromTheMirror(t *testing.T) {
	index, mirror, directory := newServer(t), newServer(t), t.TempDir()
	mirror.archive = index.archive
	t.Cleanup(func() {
		if err := removeAll(filepath.Join(directory, "k8s")); err != nil {
			t.Error(err)
		}
	})
	if _, _, err := get(t.Context(), t, index.URL+"/index.yaml", directory, "-mirror", mirror.URL+"/a/b/"); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(index.requests, func(path string) bool { return path != "/index.yaml" }) ||
		!slices.Equal(mirror.requests, []string{"/a/b/" + archiveName("1.37.1")}) {
		t.Errorf("the index was asked for %v, the mirror for %v", index.requests, mirror.requests)
	}
}

func TestNothingIsStoredOfWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		reason string
		change func(*server)
		want   string
	}{
		{"another hash", func(s *server) { s.hash = strings.Repeat("0", len(s.hash)) }, "checksum mismatch"},
		{"no hash", func(s *server) { s.hash = "" }, "the index has no SHA-512"},
		{"a half archive", func(s *server) { s.archive = s.archive[:len(s.archive)/2] }, "checksum mismatch"},
		{"no such version", func(s *server) { s.versions = []string{"1.36.4", "1.38.0"} }, "the index has no Kubernetes 1.37"},
		{"an error of the server", func(s *server) { s.status = http.StatusForbidden }, "403"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s, directory := newServer(t), t.TempDir()
			c.change(s)
			_, _, err := get(t.Context(), t, s.URL+"/index.yaml", directory)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if found := kept(t, directory); len(found) > 0 {
				t.Errorf("the store has %v", found)
			}
		})
	}
}

func TestResponsesAreLimited(t *testing.T) {
	body := &limitedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", 100))), left: 99}
	if _, err := io.ReadAll(body); !errors.Is(err, errTooLarge) {
		t.Errorf("got %v", err)
	}
	if read, err := io.ReadAll(&limitedBody{ReadCloser: io.NopCloser(strings.NewReader("xy")), left: 2}); len(read) != 2 || err != nil {
		t.Errorf("read %q, error %v", read, err)
	}
}

func TestAnUnreachableIndexFails(t *testing.T) {
	s := newServer(t)
	s.Close()
	if _, progress, err := get(t.Context(), t, s.URL+"/index.yaml", t.TempDir()); err == nil || !strings.Contains(progress, "GET "+s.URL) {
		t.Errorf("error %v, progress %q", err, progress)
	}
	transport, ok := boundedTransport().(*http.Transport)
	if !ok || transport.TLSHandshakeTimeout != connectTimeout || transport.ResponseHeaderTimeout != responseTimeout || transport.Proxy == nil {
		t.Errorf("the transport is %+v", transport)
	}
}

func TestAnInterruptStopsTheDownload(t *testing.T) {
	s := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := get(ctx, t, s.URL+"/index.yaml", t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestVersionsAreChecked(t *testing.T) {
	if err := run(t.Context(), []string{"-version", "newest"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "-version") {
		t.Errorf("got %v", err)
	}
}
