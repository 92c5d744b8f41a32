package localplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

func TestControllerManagerIsNamedWhenMissing(t *testing.T) {
	assets := binaries.Assets{Etcd: "/x/etcd", APIServer: "/x/kube-apiserver", Dir: "/x"}
	_, err := Start(t.Context(), Options{ControllerManager: true, Assets: &assets})
	if err == nil || !strings.Contains(err.Error(), "no kube-controller-manager in /x: run `make assets`") {
		t.Errorf("got %v, want an error that names the missing binary and the way out", err)
	}
}

func TestFailedStartQuotesTheLogAndLeavesNothing(t *testing.T) {
	etcd := filepath.Join(t.TempDir(), binaries.Etcd)
	if err := os.WriteFile(etcd, []byte("#!/bin/sh\necho panic: freelist is broken >&2\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	_, err := Start(t.Context(), Options{Assets: &binaries.Assets{Etcd: etcd}})
	if err == nil {
		t.Fatal("an etcd that exits must fail the start")
	}
	for _, want := range []string{"etcd exited: exit status 7", "etcd.log", "panic: freelist is broken"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not contain %q", err, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(temporary, temporaryPattern+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("the failed start left %v (%v)", left, err)
	}
}
