// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/test/expect"
)

// readers are command lines of all commands that read a hub for a user.
func readers(t *testing.T) map[string][]string {
	t.Helper()
	file := expect.File(t, filepath.Join(t.TempDir(), "new.yaml"), unchanged)
	return map[string][]string{
		"explain": {"team-a/rollout"}, "federated": nil, "sets": nil, "simulate": nil, "diff": {"-f", file},
	}
}

// An API server that accepts connections and never responds ends every command with the name of the flag, in a TLS handshake too.
func TestHangingServer(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, listener.Close()) })
	for command, args := range readers(t) {
		for _, scheme := range []string{"http", "https"} {
			t.Run(command+" "+scheme, func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				line := append([]string{command, "--server", scheme + "://" + listener.Addr().String(), "--request-timeout", "50ms"}, args...)
				code := execute(t.Context(), line, &stdout, &stderr)
				if code == exit.OK || !strings.Contains(stderr.String(), "not responded within --request-timeout=50ms.") {
					t.Errorf("exit code %d, stdout %q, stderr %q", code, &stdout, &stderr)
				}
			})
		}
	}
}

// Every command sends the identity of the flags.
func TestConnectionFlagsIdentifyTheUser(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	for command, args := range readers(t) {
		t.Run(command, func(t *testing.T) {
			var header http.Header
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
				header = request.Header
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer server.Close()
			var output bytes.Buffer
			line := append([]string{
				command, "-s", server.URL, "--insecure-skip-tls-verify", "--token", "secret", "--as", "alice", "--as-group", "a", "--as-group", "b",
			}, args...)
			if code := execute(t.Context(), line, &output, &output); code == exit.OK {
				t.Errorf("output %s", &output)
			}
			got := map[string][]string{}
			for _, name := range []string{"Authorization", "Impersonate-User", "Impersonate-Group"} {
				got[name] = header[name]
			}
			want := map[string][]string{"Authorization": {"Bearer secret"}, "Impersonate-User": {"alice"}, "Impersonate-Group": {"a", "b"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("header (-want +got):\n%s\noutput: %s", diff, &output)
			}
		})
	}
}

func TestRequestTimeout(t *testing.T) {
	kubeconfig := expect.File(t, filepath.Join(t.TempDir(), "config"), expect.Kubeconfig("https://127.0.0.1:1"))
	for _, tc := range []struct {
		flag, want string
		wrong      []string
	}{
		{flag: "", want: "30s"},
		{flag: "2m", want: "2m0s"},
		{flag: "7", want: "7s"},
		{flag: "0", want: "0s"},
		{flag: "soon", wrong: []string{"--request-timeout", `"soon"`, "30s"}},
		{flag: "-1s", wrong: []string{"--request-timeout", `"-1s"`}},
	} {
		t.Run(tc.flag, func(t *testing.T) {
			var flags hubflags.Hub
			set := pflag.NewFlagSet("", pflag.ContinueOnError)
			flags.Add(set)
			args := []string{"--kubeconfig", kubeconfig}
			if tc.flag != "" {
				args = append(args, "--request-timeout", tc.flag)
			}
			expect.NoError(t, set.Parse(args))
			config, _, err := flags.Find()
			expect.Error(t, err, tc.wrong)
			if err == nil && config.Timeout.String() != tc.want {
				t.Errorf("timeout %s, want %s", config.Timeout, tc.want)
			}
		})
	}
}

// The commands that read a hub have one set of flags for it.
func TestConnectionFlagsAreTheSame(t *testing.T) {
	var (
		started bool
		expects = pflag.NewFlagSet("", pflag.ContinueOnError)
	)
	hubflags.NewConnectionFlags().AddFlags(expects)
	root := newRootCommand(&started, func() {})
	for name := range readers(t) {
		command, _, err := root.Find([]string{name})
		expect.NoError(t, err)
		wantFlags(t, command, expects)
	}
}

func wantFlags(t *testing.T, command *cobra.Command, expects *pflag.FlagSet) {
	t.Helper()
	expects.VisitAll(func(want *pflag.Flag) {
		got := command.Flags().Lookup(want.Name)
		if got == nil || got.Shorthand != want.Shorthand || got.DefValue != want.DefValue {
			t.Errorf("%s: flag --%s is %+v", command.Name(), want.Name, got)
		}
	})
}
