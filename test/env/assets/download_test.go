// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// downloads is a script in place of `go` that stores etcd and kube-apiserver when it runs the download, and writes the file after -o else.
const downloads = `#!/bin/sh
echo "$(basename "$PWD") $*" >> "$CALLS"
if [ "$1" = run ]; then
	if [ -n "$FAILS" ]; then exit 1; fi
	mkdir -p "$XDG_DATA_HOME/kubebuilder-envtest/k8s/$STORED"
	for name in etcd kube-apiserver kubectl; do
		echo binary > "$XDG_DATA_HOME/kubebuilder-envtest/k8s/$STORED/$name"
		chmod +x "$XDG_DATA_HOME/kubebuilder-envtest/k8s/$STORED/$name"
	done
	exit 0
fi
echo binary > "$3"
chmod +x "$3"
`

func TestOnlyRunDownloads(t *testing.T) {
	builds := []string{binaries.Etcd, binaries.APIServer}
	for _, c := range []struct {
		reason        string
		arguments     []string
		off, fails    bool
		wantDownloads int
		wantBuilt     []string
		wantProgress  string
	}{
		{
			reason: "the download is there", arguments: []string{"-programs", "", "-download"}, wantDownloads: 1,
			wantProgress: "downloading them (about 70 MB, a minute); where that fails, they are built, which takes 5 to 10 minutes",
		},
		{
			reason: "what the download lacks is built", arguments: []string{"-programs", "kube-controller-manager", "-download"}, wantDownloads: 1,
			wantBuilt: []string{binaries.ControllerManager}, wantProgress: "building kube-controller-manager",
		},
		{
			reason: "the download fails", arguments: []string{"-programs", "", "-download"}, fails: true, wantDownloads: 1, wantBuilt: builds,
			wantProgress: "the download failed (exit status 1); building",
		},
		{
			reason: "it is off", arguments: []string{"-programs", "", "-download"}, off: true, wantBuilt: builds,
			wantProgress: "ENVTEST=off, so they are built, which takes 5 to 10 minutes",
		},
		{reason: "without the flag", arguments: []string{"-programs", ""}, wantBuilt: builds, wantProgress: "building etcd"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			checkout := setCheckout(t, downloads)
			if err := os.MkdirAll(filepath.Join(checkout.Root, "test", "envtest"), 0o755); err != nil {
				t.Fatal(err)
			}
			calls := filepath.Join(t.TempDir(), "calls")
			t.Setenv("CALLS", calls)
			t.Setenv("STORED", "1.37.1-"+runtime.GOOS+"-"+runtime.GOARCH)
			t.Setenv("FAILS", map[bool]string{true: "yes"}[c.fails])
			t.Setenv(envtestVariable, map[bool]string{true: "off"}[c.off])
			t.Setenv(indexVariable, "http://127.0.0.1/index")
			t.Setenv(mirrorVariable, "http://127.0.0.1/mirror")
			for range 2 { // The second run finds everything.
				_, progress, err := runIn(t, c.arguments...)
				if err != nil {
					t.Fatal(err)
				}
				if c.wantProgress != "" && !strings.Contains(progress, c.wantProgress) {
					t.Errorf("progress lacks %q:\n%s", c.wantProgress, progress)
				}
				c.wantProgress = ""
			}
			content, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}
			call := "envtest run -mod=readonly -trimpath . -version 1.37 -index http://127.0.0.1/index -mirror http://127.0.0.1/mirror\n"
			if got := strings.Count(string(content), call); got != c.wantDownloads {
				t.Errorf("%d downloads, want %d:\n%s", got, c.wantDownloads, content)
			}
			var built []string
			for _, name := range []string{binaries.Etcd, binaries.APIServer, binaries.ControllerManager, binaries.Kubectl} {
				if _, err := os.Stat(filepath.Join(checkout.BuildDir(binaries.ControlPlane), name)); err == nil {
					built = append(built, name)
				}
			}
			if diff := cmp.Diff(c.wantBuilt, built); diff != "" {
				t.Errorf("built (-want +got):\n%s", diff)
			}
		})
	}
}
