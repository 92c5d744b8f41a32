// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/test/expect"
)

func TestMountedCertificate(t *testing.T) {
	mounted := t.TempDir()
	writePair(t, mounted, "mounted.example")
	crt, key := filepath.Join(mounted, "tls.crt"), filepath.Join(mounted, "tls.key")
	empty := t.TempDir()
	for _, tc := range []struct {
		reason      string
		dir         string
		given, want Options
		wantWatch   []string
	}{
		{reason: "the mounted pair is the default", dir: mounted, want: Options{CertFile: crt, KeyFile: key}},
		{
			reason: "a named pair wins", dir: mounted,
			given: Options{CertFile: "/a", KeyFile: "/b"}, want: Options{CertFile: "/a", KeyFile: "/b"},
		},
		{
			reason: "a pair that is mounted later must end the process, as upstream does", dir: empty,
			wantWatch: []string{filepath.Join(empty, "tls.crt"), filepath.Join(empty, "tls.key")},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got := tc.given
			watch := got.UseMountedCertificate(tc.dir)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantWatch, watch); diff != "" {
				t.Errorf("files to watch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidation(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(*Options)
		want   []string
	}{
		{reason: "a certificate alone", change: func(o *Options) { o.CertFile = "/a" },
			want: []string{"certFile and keyFile belong together"}},
		{reason: "a key alone", change: func(o *Options) { o.KeyFile = "/a" },
			want: []string{"certFile and keyFile belong together"}},
		{reason: "a network that is none", change: func(o *Options) { o.Network = "udp" }, want: []string{"bindNetwork", `"udp"`, "tcp4"}},
		{reason: "IPv6 only", change: func(o *Options) { o.Network = "tcp6" }},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o := localServing()
			tc.change(&o)
			expect.Error(t, o.Validate(), tc.want)
		})
	}
}
