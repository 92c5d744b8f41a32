// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

func TestMissingBinaryIsNamed(t *testing.T) {
	servers := binaries.Assets{Etcd: "/x/etcd", APIServer: "/x/kube-apiserver", Dir: "/x"}
	manager := servers
	manager.ControllerManager = "/x/kube-controller-manager"
	for _, c := range []struct {
		options Options
		assets  binaries.Assets
		want    string
	}{
		{Options{ControllerManager: true}, servers, "no kube-controller-manager in /x: run `make assets`"},
		{Options{Workloads: true}, servers, "no kube-controller-manager in /x: run `make assets`"},
		{Options{Workloads: true}, manager, "no kube-scheduler in /x: run `make assets-scheduler`"},
	} {
		c.options.Assets = &c.assets
		_, err := Start(t.Context(), c.options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
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
