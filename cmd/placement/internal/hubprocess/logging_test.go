// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/test/expect"
)

func TestChangedFlags(t *testing.T) {
	_, fs := parseFlags(t, "--controllers=*", "--max-removal-percent=50", "--workers=0", "--kube_api_qps=5")
	want := []string{"--controllers=[*]", "--kube-api-qps=5", "--max-removal-percent=50"}
	if diff := cmp.Diff(want, ChangedFlags(fs)); diff != "" {
		t.Errorf("flags that differ from the defaults (-want +got):\n%s", diff)
	}
	if _, fs := parseFlags(t); len(ChangedFlags(fs)) != 0 {
		t.Errorf("without arguments %v differ from the defaults", ChangedFlags(fs))
	}
}

func TestProfilesOnLoopbackAlone(t *testing.T) {
	for address, want := range map[string][]string{
		"":               nil,
		"127.0.0.1:6060": nil,
		"[::1]:6060":     nil,
		"0.0.0.0:6060":   {"--pprof", `"0.0.0.0"`, "127.0.0.1:6060"},
		":6060":          {"--pprof", `""`, "loopback"},
		"localhost:6060": {"--pprof", `"localhost"`, "loopback IP address"},
		"127.0.0.1":      {"--pprof", "missing port", "127.0.0.1:6060"},
	} {
		t.Run(address, func(t *testing.T) {
			o, _ := parseFlags(t, "--pprof="+address)
			expect.Error(t, o.Validate(), want)
		})
	}
}
