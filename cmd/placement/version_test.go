// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/build"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
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
			got := build.New(tc.version, tc.commit, tc.info)
			if got.Version != tc.wantVersion || got.Commit != tc.wantCommit {
				t.Errorf("version %q, commit %q; want %q, %q", got.Version, got.Commit, tc.wantVersion, tc.wantCommit)
			}
			if diff := cmp.Diff(tc.wantModules, got.Modules); diff != "" {
				t.Errorf("modules (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrintVersion(t *testing.T) {
	v := build.Info{Version: "v1", Commit: "abc", GoVersion: "go1", Platform: "linux/amd64", Modules: map[string]string{"k8s.io/api": "v0.37.2"}}
	for format, decode := range map[string]func([]byte, *build.Info) error{
		"json": func(data []byte, into *build.Info) error { return json.Unmarshal(data, into) },
		"yaml": func(data []byte, into *build.Info) error { return yaml.UnmarshalStrict(data, into) },
	} {
		var out bytes.Buffer
		if err := printVersion(&out, format, v); err != nil {
			t.Fatal(err)
		}
		var got build.Info
		if err := decode(out.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v in %s", format, err, out.Bytes())
		}
		if diff := cmp.Diff(v, got); diff != "" {
			t.Errorf("%s does not round-trip (-want +got):\n%s", format, diff)
		}
	}
	var out bytes.Buffer
	if err := printVersion(&out, "text", v); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"placement v1\n", "abc", "go1 linux/amd64", "k8s.io/api v0.37.2\n"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("text %q does not contain %q", out.String(), part)
		}
	}
	var usage *exit.UsageError
	if err := printVersion(&out, "xml", v); !errors.As(err, &usage) || !strings.Contains(err.Error(), `"xml"`) {
		t.Errorf("an unknown format gave %v, want a usage error that names it", err)
	}
}
