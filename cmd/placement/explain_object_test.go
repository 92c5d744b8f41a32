// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
)

func TestExplainObject(t *testing.T) {
	for _, tc := range []struct {
		reason     string
		args       []string
		wantCode   int
		wantStdout []string
		wantStderr string
	}{
		{
			reason: "federated-selector 3.1.4: the clause, as for a Placement", args: []string{"configmap/settings"},
			wantStdout: []string{"us1      Predicate  -        -          predicate 1 label location In [europe]: is usa"},
		},
		{
			reason: "a verified counterfactual", args: []string{"cm", "settings", "--cluster", "us1"},
			wantStdout: []string{"us1: Predicate,", "would be selected if label location were europe"},
		},
		{
			reason: "a cluster that has it", args: []string{"cm/settings", "--cluster", "eu1"},
			wantStdout: []string{"eu1: Selected, matches location in (europe)"},
		},
		{
			reason: "a workload: its Pods, and where it is delivered", args: []string{"deploy/web"},
			wantStdout: []string{"Deployment team-a/web: no policy matches", "\n\nDeployment.apps/team-a/web: 3 clusters selected"},
		},
		{reason: "names", args: []string{"cm/settings", "-o", "name"},
			wantStdout: []string{"team-a/settings@configmap eu1\nteam-a/settings@configmap eu2\n"}},
		{
			reason: "a cluster that does not exist", args: []string{"cm/settings", "--cluster", "eu9"}, wantCode: exit.Failure,
			wantStderr: "--cluster: there is no ManagedCluster eu9",
		},
		{
			reason: "an object that does not exist", args: []string{"secret/x"}, wantCode: exit.Failure,
			wantStderr: "there is no Secret x; correct the name or the namespace",
		},
		{
			reason: "an object and a placement", args: []string{"cm/settings", "team-a/p"}, wantCode: exit.Failure,
			wantStderr: "there is no Placement team-a/p",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			code, stdout, stderr := runExplain(t, append(tc.args, "-f", federatedHub, "-f", federatedWorks)...)
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

func TestExplainWorkloadOutsideOfDelivery(t *testing.T) {
	code, stdout, _ := runExplain(t, "deploy/web", "-f", explainedPods, "-o", "json")
	if code != exit.OK || strings.Contains(stdout, `"federated"`) {
		t.Errorf("exit code %d: %s", code, stdout)
	}
	code, _, stderr := runExplain(t, "deploy/web", "-f", explainedPods, "--cluster", "c1")
	if code != exit.Failure || !strings.Contains(stderr, "takes no part in the delivery") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestExplainObjectJSON(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"explain", "deploy/web", "-f", federatedHub, "-f", federatedWorks, "-o", "json"}
	if code := executeWithInput(t, "", args, &stdout, &stderr); code != exit.OK {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	var explanations counterfactual.WorkloadExplanations
	if err := json.Unmarshal(stdout.Bytes(), &explanations); err != nil {
		t.Fatal(err)
	}
	if len(explanations.Workloads) != 1 || explanations.Federated == nil || explanations.Federated.Objects[0].Object != "Deployment.apps/team-a/web" {
		t.Errorf("%+v", explanations)
	}
}
