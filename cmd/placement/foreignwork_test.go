// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/expect"
)

// docs/architecture.md law 7: while a selected cluster cannot get an object, because a ManifestWork of somebody else has the name there, no
// command reports withdrawals from healthy clusters: the hub makes none.
func TestWorksOfOthersHoldWithdrawals(t *testing.T) {
	taken := expect.File(t, filepath.Join(t.TempDir(), "taken.yaml"), `apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: fed-configmap-c5ed5d6b1c4e9446e7a7be23cc21e763, namespace: us1}
spec: {workload: {manifests: []}}
`)
	content, err := os.ReadFile(federatedHub)
	if err != nil {
		t.Fatal(err)
	}
	moved := expect.File(t, filepath.Join(t.TempDir(), "moved.yaml"), strings.Replace(string(content), `"values":["europe"]`, `"values":["usa"]`, 1))
	change := expect.File(t, filepath.Join(t.TempDir(), "change.yaml"), `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: team-a
  annotations: {federation.alpha.kubernetes.io/cluster-selector: '[{"key":"location","operator":"in","values":["usa"]}]'}
data: {mode: fast}
`)
	for name, args := range map[string][]string{
		"federated": {"federated", "cm/settings", "-n", "team-a", "-f", moved, "-f", federatedWorks, "-f", taken},
		"diff":      {"diff", "-f", change, "--hub", federatedHub, "--hub", federatedWorks, "--hub", taken},
		"simulate": {
			"simulate", "--label", "us1:location=europe", "--label", "eu2:location=asia", "-f", federatedHub, "-f", federatedWorks, "-f", taken,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			execute(t.Context(), args, &stdout, &stderr)
			text := stdout.String()
			if !strings.Contains(text, "keep the object while clusters us1 cannot get it") {
				t.Errorf("no word of us1:\n%s%s", text, stderr.String())
			}
			if strings.Contains(text, "- eu2") || strings.Contains(text, "to be withdrawn") {
				t.Errorf("a withdrawal that the hub does not make:\n%s", text)
			}
		})
	}
}
