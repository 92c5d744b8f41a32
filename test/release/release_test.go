// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sources is what the binary and the image are built from.
var sources = []string{
	"cmd", "deploy", "docs/runbooks", "docs/third-party.md", "go.mod", "go.sum", "manifests", "pkg", "test/licenses", "test/surface/testdata",
	"test/surface/released", "vendor", "LICENSE", "NOTICE",
}

// copySources copies the sources to another directory.
func copySources(t *testing.T) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "another", "place")
	for _, name := range sources {
		from, to := filepath.Join("..", "..", name), filepath.Join(copied, name)
		info, err := os.Stat(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
		} else {
			var content []byte
			if content, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, content, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

// command runs a command of this program, and returns what it prints.
func command(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), append(arguments, "-version", "v1.2.3", "-commit", "abc", "-created", "1767323045", "-architectures", runtime.GOARCH),
		&out, io.Discard)
	return strings.TrimSpace(out.String()), err
}

// keys writes a key and its public key.
func keys(t *testing.T) (private, public string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	published, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	private, public = filepath.Join(directory, "key"), filepath.Join(directory, "key.pub")
	for file, block := range map[string]*pem.Block{private: {Type: "PRIVATE KEY", Bytes: encoded}, public: {Type: "PUBLIC KEY", Bytes: published}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return private, public
}

// TestARelease collects a release in a copy of the sources, and builds its image again from the sources themselves, for the architecture of
// this machine alone: building for others takes minutes.
func TestARelease(t *testing.T) {
	systems = []string{"linux"}
	copied := copySources(t)
	private, public := keys(t)
	out := t.TempDir()
	directory, err := command(t, "collect", "-root", copied, "-directory", out, "-key", private)
	if err != nil {
		t.Fatal(err)
	}
	verified := func(more ...string) (string, error) {
		return command(t, append([]string{"verify", "-root", copied, "-directory", directory}, more...)...)
	}

	t.Run("two directories give one digest", func(t *testing.T) {
		said, err := command(t, "verify", "-root", "../..", "-directory", directory, "-public-key", public, "-rebuild")
		if want := "placement-hub v1.2.3, commit abc, image sha256:"; !strings.HasPrefix(said, want) || err != nil {
			t.Errorf("verify says %q, want %q, error %v", said, want, err)
		}
	})
	t.Run("the directory has everything", func(t *testing.T) {
		names, err := releasedFiles(directory)
		want := []string{
			"LICENSE", "NOTICE", "crds.yaml", "deploy.tar.gz", "placement-hub-linux-" + runtime.GOARCH + ".tar", "placement-hub-oci.tar",
			"placement-hub.spdx.json", "placement-linux-" + runtime.GOARCH, "release.json", "third-party-licenses.txt",
		}
		if diff := cmp.Diff(want, names); diff != "" || err != nil {
			t.Errorf("files (-want +got):\n%s\nerror: %v", diff, err)
		}
	})
	t.Run("the surface is frozen", func(t *testing.T) {
		for _, name := range []string{"commands.txt", "metrics.txt"} {
			frozen, err := os.ReadFile(filepath.Join(copied, "test", "surface", "released", name))
			if err != nil {
				t.Fatal(err)
			}
			current, err := os.ReadFile(filepath.Join("..", "surface", "testdata", name))
			if !bytes.Equal(frozen, current) || err != nil {
				t.Errorf("%s differs from the golden file, error %v", name, err)
			}
		}
	})
	t.Run("openssl verifies the signature", func(t *testing.T) { verifyWithOpenSSL(t, directory, public) })

	_, stranger := keys(t)
	if _, err := verified("-public-key", stranger); err == nil || !strings.Contains(err.Error(), "no signature") {
		t.Errorf("with the key of another: %v", err)
	}
	for _, c := range []struct {
		reason, file string
		change       func(content []byte) []byte
		sums         bool // the attacker writes the check sums anew
		want         string
	}{
		{
			reason: "a changed file", file: crdFile, want: "does not have the check sum",
			change: func(content []byte) []byte { return append(content, '#') },
		},
		{reason: "a file too many", file: "extra", change: func([]byte) []byte { return nil }, want: "extra is not in SHA256SUMS"},
		{
			reason: "an SBOM of another version of a module", file: sbomFile, sums: true, want: "the binaries have k8s.io/api ",
			change: func(content []byte) []byte {
				return bytes.ReplaceAll(content, []byte(`"k8s.io/api",`), []byte(`"example.com/api",`))
			},
		},
		{
			reason: "an image of another digest", file: manifestFile, sums: true, want: "the image has the digest sha256:",
			change: func(content []byte) []byte { return bytes.Replace(content, []byte(`"sha256:`), []byte(`"sha256:0`), 1) },
		},
		{
			reason: "another version", file: manifestFile, sums: true, want: "the binary says version v1.2.3",
			change: func(content []byte) []byte { return bytes.Replace(content, []byte("v1.2.3"), []byte("v1.2.4"), 1) },
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			path := filepath.Join(directory, c.file)
			before, err := os.ReadFile(path)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			sums, err := os.ReadFile(filepath.Join(directory, sumsFile))
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, c.change(bytes.Clone(before)))
			if c.sums {
				if err := writeSums(directory); err != nil {
					t.Fatal(err)
				}
				if _, err := verified("-public-key", public); err == nil || !strings.Contains(err.Error(), "no signature") {
					t.Errorf("the signature is checked: %v", err)
				}
			}
			if _, err := verified(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("verify says %v, want %q", err, c.want)
			}
			if before == nil {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, path, before)
			}
			write(t, filepath.Join(directory, sumsFile), sums)
		})
	}
	if _, err := verified("-public-key", public); err != nil {
		t.Errorf("what was put back: %v", err)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// verifyWithOpenSSL verifies the signature as docs/releases.md says, where openssl is installed; Go has verified it already.
func verifyWithOpenSSL(t *testing.T, directory, public string) {
	t.Helper()
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		return
	}
	encoded, err := os.ReadFile(filepath.Join(directory, signatureFile))
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(encoded)))
	if err != nil {
		t.Fatal(err)
	}
	signature := filepath.Join(t.TempDir(), "signature")
	write(t, signature, decoded)
	output, err := exec.CommandContext(t.Context(), openssl, "dgst", "-sha256", "-verify", public, "-signature", signature,
		filepath.Join(directory, sumsFile)).CombinedOutput()
	if err != nil || !strings.Contains(string(output), "Verified OK") {
		t.Errorf("openssl: %v\n%s", err, output)
	}
}

func TestDirtySourcesAreNotReleased(t *testing.T) {
	err := run(t.Context(), []string{"collect", "-root", "../..", "-directory", t.TempDir(), "-version", "v1.2.3-dirty"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "commit everything first") {
		t.Errorf("got %v", err)
	}
}

func TestMistakesOfTheCommandLine(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{nil, "name a command"},
		{[]string{"publish"}, "name a command"},
		{[]string{"image", "-binary", "amd64"}, "must be architecture=file"},
		{[]string{"image", "dist"}, `unexpected argument "dist"`},
		{[]string{"push", "-directory", t.TempDir()}, "run make image first"},
		{[]string{"verify", "-directory", t.TempDir()}, "name the directory of a release"},
	} {
		if err := run(t.Context(), c.arguments, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.arguments, err, c.want)
		}
	}
}

func TestKeysOfOtherKindsAreRefused(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	private, public := keys(t)
	file := filepath.Join(t.TempDir(), "key")
	write(t, file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
	for file, want := range map[string]string{file: "no ECDSA key of P-256", public: "has no private key", private: ""} {
		_, err := readKey(file)
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}
