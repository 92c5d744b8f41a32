// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/expect"
)

func TestKubeconfigIsWrittenAndRemoved(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		meddle   func(path string) error
		wantLeft []string
	}{
		{reason: "nothing is left", meddle: func(string) error { return nil }},
		{reason: "somebody removed it first", meddle: os.Remove},
		{
			reason: "what somebody else wrote there stays", wantLeft: []string{"kubeconfig"},
			meddle: func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) },
		},
		{
			reason: "a directory with other things stays", wantLeft: []string{"notes"},
			meddle: func(path string) error { return os.WriteFile(filepath.Join(filepath.Dir(path), "notes"), nil, 0o600) },
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			directory := filepath.Join(t.TempDir(), ".placement")
			path := filepath.Join(directory, "kubeconfig")
			file, err := writeKubeconfig(path, &rest.Config{Host: "https://127.0.0.1:1", BearerToken: "t"})
			expect.NoError(t, err)
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the kubeconfig has mode %v (%v), want one that only its owner can read", info.Mode(), err)
			}
			expect.NoError(t, checkKubeconfigPath(t.Context(), path))
			expect.NoError(t, tc.meddle(path))
			expect.NoError(t, file.remove())
			var left []string
			entries, err := os.ReadDir(directory)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			for _, entry := range entries {
				left = append(left, entry.Name())
			}
			if strings.Join(left, " ") != strings.Join(tc.wantLeft, " ") {
				t.Errorf("left: %q, want %q", left, tc.wantLeft)
			}
			if _, err := os.Stat(directory); os.IsNotExist(err) != (tc.wantLeft == nil) {
				t.Errorf("the directory made for it: %v", err)
			}
		})
	}
}

func TestKubeconfigsOfOthersStay(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(`{"major":"1","minor":"37"}`)); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	live, err := localplane.Kubeconfig(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	expect.NoError(t, err)
	for _, tc := range []struct {
		reason, content string
		want            []string
	}{
		{"the kubeconfig of another cluster", expect.Kubeconfig("https://example.com"), []string{"was not written by this command", "another path"}},
		{"no kubeconfig at all", "notes", []string{"was not written by this command"}},
		{"the kubeconfig of a hub that runs", string(live), []string{"a hub that runs", server.URL, "another path"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			path := expect.File(t, filepath.Join(t.TempDir(), "kubeconfig"), tc.content)
			expect.Error(t, checkKubeconfigPath(t.Context(), path), append(tc.want, path))
		})
	}
}

func TestKubeconfigThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "such", "kubeconfig")
	_, err := writeKubeconfig(path, &rest.Config{Host: "https://127.0.0.1:1"})
	expect.Error(t, err, []string{"--write-kubeconfig", filepath.Dir(path), "directory that exists"})
}

func TestExportLine(t *testing.T) {
	for path, want := range map[string]string{
		"/home/a/.placement/kubeconfig": "export KUBECONFIG=/home/a/.placement/kubeconfig",
		"/home/my hub/k":                "export KUBECONFIG='/home/my hub/k'",
		"/o'hara/$x":                    `export KUBECONFIG='/o'\''hara/$x'`,
	} {
		if got := exportLine(path); got != want {
			t.Errorf("exportLine(%q) = %s, want %s", path, got, want)
		}
	}
}
