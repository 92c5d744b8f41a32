// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/test/expect"
)

func TestSimulateRequests(t *testing.T) {
	content, err := os.ReadFile("../../docs/examples/first-cluster.yaml")
	expect.NoError(t, err)
	firstCluster, directory := string(content), t.TempDir()
	object := func(kind, metadata, rest string) string {
		return "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: " + kind + "\nmetadata: {" + metadata + "}\n" + rest + "\n"
	}
	for _, tc := range []struct {
		reason   string
		add      string // "" for the hub as it is
		args     []string
		wantCode int
		want     []string
	}{
		{
			reason: "the hub as it is: what each request has or gets", wantCode: exit.OK,
			want: []string{"ClusterRequest/team-a/builds: ", "\n\nClusterRequest/team-a/models: Denied"},
		},
		{reason: "names", args: []string{"-o", "name"}, want: []string{"team-a/ci team-a/workload-1\n"}},
		{
			reason: "a limit of a Purpose", add: object("Purpose", "name: workload", "spec: {tenancyLimit: 1}"), args: []string{"--exit-code"},
			wantCode: exit.Differs, want: []string{
				"what if: add Purpose workload\n\nClusterRequests: another result for 1 request",
				"~ team-a/builds: Granted Cluster team-a/workload-1 -> Granted new Cluster cluster-openmcp-shared/workload-",
				"if no request had a Grant: 3 Clusters instead of 2, 1 more for 4 requests",
			},
		},
		{
			reason: "a profile that is published grants what was denied", wantCode: exit.OK,
			add: object("ClusterProvider", "name: nodes", "status: {ready: true, profiles: [{name: large, supportedVersions: [{version: 1.36.0}], "+
				"supportedTraits: [{trait: kubernetes.io/apis/gpu}]}]}"),
			want: []string{"~ team-a/models: Denied, NoMatchingProfile -> Granted new Cluster ", "0 requests refused instead of 1"},
		},
		{
			reason: "a ClusterProvider without profiles keeps those that it has", args: []string{"--exit-code"}, wantCode: exit.OK,
			add: object("ClusterProvider", "name: gardener", "spec: {package: new}"), want: []string{"another result for 0 requests"},
		},
		{
			reason: "a new request, by names, in its namespace", args: []string{"-o", "name", "-n", "team-b"}, wantCode: exit.OK,
			add:  object("ClusterRequest", "name: new, namespace: team-b", "spec: {purposes: [mcp]}"),
			want: []string{"team-b/new@clusterrequest ~\n"},
		},
		{
			reason: "a platform as it is applied, with a request for access", wantCode: exit.OK,
			add:  firstCluster,
			want: []string{"~ platform/first: no request -> Granted new Cluster platform/platform-"},
		},
		{
			reason: "as data", args: []string{"-o", "json"}, wantCode: exit.OK, add: object("Purpose", "name: workload", "spec: {tenancyLimit: 1}"),
			want: []string{`"requests": {`, `"granted": 1,`, `"clusters": 3`},
		},
		{
			reason: "a strategy that there is not", args: []string{"--cluster-request-strategy=Best"}, wantCode: exit.Usage,
			want: []string{"use Balanced or Simple"},
		},
		{
			reason: "a mistake in the file", wantCode: exit.Usage,
			add:  object("ClusterRequest", "name: new, namespace: team-b", "spec: {purposes: []}"),
			want: []string{"spec.purposes: Invalid value: 0: should have at least 1 items"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			args := append([]string{"-f", requestsHub}, tc.args...)
			if tc.add != "" {
				file := expect.File(t, filepath.Join(directory, strings.ReplaceAll(tc.reason, " ", "-")+".yaml"), tc.add)
				args = append([]string{"--hub", requestsHub, "--add", "-f", file}, tc.args...)
			}
			code, stdout, stderr := simulate(t, "", args...)
			if code != tc.wantCode {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tc.wantCode, stderr)
			}
			for _, part := range tc.want {
				if !strings.Contains(stdout+stderr, part) {
					t.Errorf("the output lacks %q:\n%s%s", part, stdout, stderr)
				}
			}
		})
	}
}
