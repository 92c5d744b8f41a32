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

func TestDiffOfRequests(t *testing.T) {
	directory := t.TempDir()
	object := func(kind, metadata, rest string) string {
		return "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: " + kind + "\nmetadata: {" + metadata + "}\n" + rest + "\n"
	}
	for _, tc := range []struct {
		reason   string
		file     string
		args     []string
		wantCode int
		want     []string
	}{
		{
			reason: "a limit of a Purpose", file: object("Purpose", "name: workload", "spec: {tenancyLimit: 1}"), wantCode: exit.Differs,
			want: []string{"~ team-a/builds: Granted Cluster team-a/workload-1 -> Granted new Cluster cluster-openmcp-shared/workload-",
				"nothing changes for 1 request with a Grant", "if no request had a Grant: 3 Clusters instead of 2, 1 more for 4 requests"},
		},
		{
			reason: "what the file does not set stays", file: object("Purpose", "name: workload", "spec: {tenancyLimit: 2}"), wantCode: exit.OK,
			want: []string{"another result for 0 requests"},
		},
		{
			reason: "a new request, by names", args: []string{"-o", "name"}, wantCode: exit.Differs,
			file: object("ClusterRequest", "name: new, namespace: team-b", "spec: {purposes: [mcp]}"),
			want: []string{"team-b/new@clusterrequest ~\n"},
		},
		{
			reason: "cluster-request C46: profiles are not applied, as they are in the status", wantCode: exit.OK,
			file: object("ClusterProvider", "name: gardener", "spec: {}\nstatus: {ready: false}"),
			want: []string{"another result for 0 requests"},
		},
		{
			reason: "a mistake in the file", wantCode: exit.NotCompared,
			file: object("ClusterRequest", "name: new, namespace: team-b", "spec: {purposes: []}"),
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			file := expect.File(t, filepath.Join(directory, strings.ReplaceAll(tc.reason, " ", "-")+".yaml"), tc.file)
			var stdout, stderr bytes.Buffer
			args := append([]string{"diff", "--hub", requestsHub, "-f", file}, tc.args...)
			if code := executeWithInput(t, "", args, &stdout, &stderr); code != tc.wantCode {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tc.wantCode, &stderr)
			}
			for _, part := range tc.want {
				if !strings.Contains(stdout.String(), part) {
					t.Errorf("stdout does not contain %q:\n%s", part, &stdout)
				}
			}
		})
	}
}
