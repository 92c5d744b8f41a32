// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
)

// requestsHub has a provider, Purposes, a Cluster and ClusterRequests.
const requestsHub = "../../docs/examples/cluster-requests.yaml"

func TestExplainRequest(t *testing.T) {
	for _, tc := range []struct {
		reason     string
		args       []string
		wantCode   int
		wantStdout []string
		wantStderr string
	}{
		{
			reason: "a granted request keeps its Cluster", args: []string{"clusterrequest/ci"},
			wantStdout: []string{"granted Cluster team-a/workload-1 of profile gardener/aws, version 1.20.3, Shared, prefix ci-",
				"the Grant stays as it is", "team-a/workload-1  1     0  "},
		},
		{
			reason: "a request that shares a Cluster", args: []string{"clusterrequests.cluster.openmcp.cloud", "builds", "-n", "team-a"},
			wantStdout: []string{"to be granted Cluster team-a/workload-1"},
		},
		{
			reason: "who asks for each part", args: []string{"clusterrequest/control"},
			wantStdout: []string{"dedicated: by Purpose mcp", "version: 1.20", "optional trait cluster.openmcp.cloud/workerless: by Purpose mcp",
				"the request needs a Cluster of its own", "gardener/aws-workerless  1     1.20.3   1"},
		},
		{
			reason: "verified changes of a denied request", args: []string{"clusterrequest/models"},
			wantStdout: []string{"Denied, NoMatchingProfile", "one of these would grant it:",
				"make trait kubernetes.io/apis/gpu optional in Purpose training: gets the new Cluster cluster-openmcp-shared/training"},
		},
		{
			reason: "names", args: []string{"clusterrequest/ci", "clusterrequest/models", "-o", "name"},
			wantStdout: []string{"team-a/ci team-a/workload-1\n"},
		},
		{
			reason: "the scope of the hub", args: []string{"clusterrequest/builds", "--cluster-request-scope=Namespaced"},
			wantStdout: []string{"to be granted Cluster team-a/workload-1"},
		},
		{
			reason: "a request that does not exist", args: []string{"clusterrequest/x"}, wantCode: exit.Failure,
			wantStderr: "there is no ClusterRequest x; correct the name or the namespace",
		},
		{
			reason: "a request and a placement", args: []string{"clusterrequest/ci", "team-a/p"}, wantCode: exit.Failure,
			wantStderr: "there is no Placement team-a/p",
		},
		{
			reason: "no name", args: []string{"clusterrequest/"}, wantCode: exit.Usage,
			wantStderr: `"clusterrequest/" does not name a ClusterRequest`,
		},
		{
			reason: "flags of placements", args: []string{"clusterrequest/ci", "--cluster", "c1"}, wantCode: exit.Usage,
			wantStderr: "they are about placements",
		},
		{
			reason: "an unknown strategy", args: []string{"clusterrequest/ci", "--cluster-request-strategy=Random"}, wantCode: exit.Usage,
			wantStderr: `"Random" is not a strategy`,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			code, stdout, stderr := runExplain(t, append(tc.args, "-f", requestsHub)...)
			if code != tc.wantCode || !strings.Contains(stderr, tc.wantStderr) {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tc.wantCode, stderr)
			}
			for _, part := range tc.wantStdout {
				if !strings.Contains(stdout, part) {
					t.Errorf("stdout does not contain %q:\n%s", part, stdout)
				}
			}
		})
	}
}

// T2: the ManagedCluster of a granted Cluster that was lost with its definition is in the report, with how to release it.
func TestExplainRequestWhoseClusterIsGone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gone.yaml")
	content := `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: workload-1-x, annotations: {cluster.openmcp.cloud/cluster: team-a/workload-1}}
status:
  conditions:
  - {type: ClusterGone, status: "True", reason: DefinitionReplaced, message: Cluster team-a/workload-1 is gone,
     lastTransitionTime: "2026-01-31T11:00:00Z"}
`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]bool{"ci": true, "control": false} {
		code, stdout, stderr := runExplain(t, "clusterrequest/"+request, "-f", requestsHub, "-f", file)
		if code != 0 || strings.Contains(stdout, "ClusterGone: Cluster team-a/workload-1 is gone") != want {
			t.Errorf("%s: exit code %d, stderr: %s, stdout: %s", request, code, stderr, stdout)
		}
	}
}
