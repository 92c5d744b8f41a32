// SPDX-License-Identifier: Apache-2.0

package build

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuildVersion(t *testing.T) {
	info := &debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"},
		},
		Deps: []*debug.Module{
			{Path: "k8s.io/api", Version: "v0.37.2"},
			{Path: "example.com/other", Version: "v9"},
			{
				Path: "open-cluster-management.io/api", Version: "v1.0.0",
				Replace: &debug.Module{Path: "open-cluster-management.io/api", Version: "v1.3.0"},
			},
		},
	}
	for _, tc := range []struct {
		reason, version, commit string
		info                    *debug.BuildInfo
		wantVersion, wantCommit string
		wantModules             map[string]string
	}{
		{
			reason: "the linker wins", version: "v2", commit: "def", info: info, wantVersion: "v2", wantCommit: "def",
			wantModules: map[string]string{"k8s.io/api": "v0.37.2", "open-cluster-management.io/api": "v1.3.0"},
		},
		{
			reason: "the build information answers otherwise", info: info, wantVersion: "v1.2.3", wantCommit: "abc-dirty",
			wantModules: map[string]string{"k8s.io/api": "v0.37.2", "open-cluster-management.io/api": "v1.3.0"},
		},
		{
			reason:      "go install of a commit has its version alone",
			info:        &debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20260102030405-0123456789ab"}},
			wantVersion: "v0.0.0-20260102030405-0123456789ab", wantCommit: "0123456789ab", wantModules: map[string]string{},
		},
		{
			reason: "go install of a tag has no commit", info: &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}},
			wantVersion: "v1.2.3", wantCommit: "unknown", wantModules: map[string]string{},
		},
		{reason: "nothing is known", wantVersion: "devel", wantCommit: "unknown", wantModules: map[string]string{}},
		{
			reason: "Go's word for no version is ours", info: &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}},
			wantVersion: "devel", wantCommit: "unknown", wantModules: map[string]string{},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got := newInfo(tc.version, tc.commit, tc.info)
			if got.Version != tc.wantVersion || got.Commit != tc.wantCommit {
				t.Errorf("version %q, commit %q; want %q, %q", got.Version, got.Commit, tc.wantVersion, tc.wantCommit)
			}
			if diff := cmp.Diff(tc.wantModules, got.Modules); diff != "" {
				t.Errorf("modules (-want +got):\n%s", diff)
			}
		})
	}
}
