// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/test/expect"
)

func TestExecute(t *testing.T) {
	unreachable := expect.File(t, filepath.Join(t.TempDir(), "kubeconfig"), expect.Kubeconfig("https://127.0.0.1:1"))
	badConfig := expect.File(t, filepath.Join(t.TempDir(), "config.yaml"),
		"apiVersion: operator.openshift.io/v1alpha1\nkind: GenericOperatorConfig\nx: 1\n")
	for _, tc := range []struct {
		reason     string
		args       []string
		wantCode   int
		wantStdout []string
		wantStderr []string
	}{
		{reason: "no subcommand shows the help", wantStdout: []string{"Available Commands:", "controller", "version"}},
		{reason: "help is no error", args: []string{"controller", "--help"}, wantStdout: []string{"--terminate-on-files", "--vmodule"}},
		{reason: "what is without effect is not shown", args: []string{"debug", "--help"}, wantStdout: []string{"/debug/placements/", "--listen"}},
		{
			reason: "debug needs somebody to debug", args: []string{"debug", "--controllers=clusterset"}, wantCode: exit.Usage,
			wantStderr: []string{"none of them serves placements", "Run 'placement debug --help'"},
		},
		{
			reason: "debug needs a server, too", args: []string{"debug", "--kubeconfig", unreachable},
			wantCode: exit.Failure, wantStderr: []string{"cannot reach the API server at https://127.0.0.1:1", "--kubeconfig"},
		},
		{
			reason: "an unknown format of sets", args: []string{"sets", "-o", "xml"}, wantCode: exit.Usage,
			wantStderr: []string{`"xml"`, "Run 'placement sets --help'"},
		},
		{
			reason: "issue 26, U9: sets of all namespaces and of one", args: []string{"sets", "-A", "-n", "team-a"}, wantCode: exit.Usage,
			wantStderr: []string{"--all-namespaces and --namespace contradict each other"},
		},
		{
			reason: "issue 26, U9: a selector of sets that is none", args: []string{"sets", "-l", "="}, wantCode: exit.Usage,
			wantStderr: []string{"--selector: ", "kubectl get -l"},
		},
		{reason: "version prints", args: []string{"version"}, wantStdout: []string{"placement ", "commit"}},
		{reason: "version prints JSON", args: []string{"version", "-o", "json"}, wantStdout: []string{`"goVersion": "go`}},
		{
			reason: "an unknown format", args: []string{"version", "--output=xml"}, wantCode: exit.Usage,
			wantStderr: []string{`"xml"`, "Run 'placement version --help'"},
		},
		{
			reason: "an unknown command", args: []string{"contoller"}, wantCode: exit.Usage,
			wantStderr: []string{`unknown command "contoller"`, "Run 'placement --help'"},
		},
		{
			reason: "an unknown flag", args: []string{"controller", "--leases=1"}, wantCode: exit.Usage,
			wantStderr: []string{"unknown flag: --leases", "Run 'placement controller --help'"},
		},
		{
			reason: "a value of the wrong type", args: []string{"controller", "--workers=many"}, wantCode: exit.Usage,
			wantStderr: []string{"--workers", `"many"`, "Run 'placement controller --help'"},
		},
		{
			reason: "an argument that nobody reads", args: []string{"controller", "placement"}, wantCode: exit.Usage,
			wantStderr: []string{`"placement"`, "Run 'placement controller --help'"},
		},
		{
			reason: "a flag that makes no sense", args: []string{"controller", "--controllers=nosuch"}, wantCode: exit.Usage,
			wantStderr: []string{`unknown controller "nosuch"`, "clusterset", "Run 'placement controller --help'"},
		},
		{
			reason: "a configuration file that makes no sense", args: []string{"controller", "--config", badConfig}, wantCode: exit.Usage,
			wantStderr: []string{badConfig, `"x"`},
		},
		{
			reason: "a server that does not answer is a failure, not misuse", args: []string{"controller", "--kubeconfig", unreachable},
			wantCode: exit.Failure, wantStderr: []string{"cannot reach the API server at https://127.0.0.1:1", "--kubeconfig"},
		},
		{
			reason: "a kubeconfig that does not exist", args: []string{"controller", "--kubeconfig", "/nonexistent/kubeconfig"},
			wantCode: exit.Usage, wantStderr: []string{"/nonexistent/kubeconfig", "--kubeconfig"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := execute(t.Context(), tc.args, &stdout, &stderr); code != tc.wantCode {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tc.wantCode, &stderr)
			}
			for _, part := range tc.wantStdout {
				if !strings.Contains(stdout.String(), part) {
					t.Errorf("stdout does not contain %q:\n%s", part, &stdout)
				}
			}
			for _, part := range tc.wantStderr {
				if !strings.Contains(stderr.String(), part) {
					t.Errorf("stderr does not contain %q:\n%s", part, &stderr)
				}
			}
			if tc.wantCode != exit.OK && strings.Contains(stderr.String()+stdout.String(), "Usage:") {
				t.Errorf("an error must not bring the whole usage page:\n%s%s", &stdout, &stderr)
			}
		})
	}
}

// Upstream's image has no entrypoint, so its manifests pass the path of the program as the first argument.
func TestExecuteDropsTheProgramsOwnPath(t *testing.T) {
	for _, tc := range []struct {
		reason, name string
		args         []string
		wantCode     int
		want         string
	}{
		{reason: "no path", name: "/placement", args: []string{"version"}, want: "commit"},
		{reason: "the path of the image", name: "/placement", args: []string{"/placement", "version"}, want: "commit"},
		{
			reason: "the path of the image, for a binary elsewhere", name: "/usr/bin/placement", args: []string{"/placement", "version"},
			want: "commit",
		},
		{reason: "its own path elsewhere", name: "/opt/hub", args: []string{"/opt/hub", "version"}, want: "commit"},
		{reason: "the path alone shows the help", name: "/placement", args: []string{"/placement"}, want: "Available Commands:"},
		{reason: "upstream's debug container", name: "/placement", args: []string{"/placement", "debug", "--help"}, want: "/debug/placements/"},
		{
			reason: "the path twice", name: "/placement", args: []string{"/placement", "/placement", "version"}, wantCode: exit.Usage,
			want: `unknown command "/placement"`,
		},
		{
			reason: "another program's path", name: "/placement", args: []string{"/work", "agent"}, wantCode: exit.Usage,
			want: `unknown command "/work"`,
		},
		{
			reason: "a plugin is never an entrypoint", name: "kubectl-placement", args: []string{"/placement", "version"}, wantCode: exit.Usage,
			want: `unknown command "/placement"`,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var out bytes.Buffer
			if code := executeAs(t.Context(), tc.name, tc.args, &out, &out); code != tc.wantCode || !strings.Contains(out.String(), tc.want) {
				t.Errorf("exit code %d, want %d and %q; output: %s", code, tc.wantCode, tc.want, &out)
			}
		})
	}
}
