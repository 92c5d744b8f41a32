// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/simulating"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/expect"
)

// hubOfNamespaces has a Namespace that kubectl applied with tier=web and federation, a policy that selects it by tier=db, and a Deployment.
const hubOfNamespaces = simulatedClusters + `---
apiVersion: v1
kind: Namespace
metadata:
  name: team-a
  labels: {tier: web, owner: platform, federation.kubernetes.io/federated: "true"}
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"metadata":{"name":"team-a","labels":{"tier":"web","federation.kubernetes.io/federated":"true"}}}
---
apiVersion: kupid.gardener.cloud/v1alpha1
kind: ClusterPodSchedulingPolicy
metadata: {name: db}
spec: {namespaceSelector: {matchLabels: {tier: db, owner: platform}}, podSelector: {}, nodeSelector: {pool: db}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
`

// Issue 26, P6: a Namespace in the files is what kubectl apply makes of the live one, in every part of the report.
func TestNamespaceInTheFilesOfDiff(t *testing.T) {
	directory := t.TempDir()
	file := func(name, content string) string { return expect.File(t, filepath.Join(directory, name), content) }
	hub := file("hub.yaml", hubOfNamespaces)
	const head = "apiVersion: v1\nkind: Namespace\nmetadata: "
	const policy = "---\napiVersion: kupid.gardener.cloud/v1alpha1\nkind: ClusterPodSchedulingPolicy\nmetadata: {name: db}\n" +
		"spec: {namespaceSelector: {matchLabels: {tier: db, owner: platform}}, podSelector: {}, nodeSelector: {pool: db}}\n"
	const federated = `federation.kubernetes.io/federated: "true"`
	const injected = "Deployment team-a/web: the next update adds nodeSelector[pool]"
	for _, tc := range []struct {
		reason, file   string
		wantCode       int
		want, unwanted []string
	}{
		{
			reason: "a label that a policy selects by, merged with a live label", wantCode: exit.Differs,
			file: head + "{name: team-a, labels: {tier: db, " + federated + "}}\n", want: []string{"Namespace team-a: changed\n", injected},
		},
		{
			reason: "the same beside the policy", wantCode: exit.Differs,
			file: head + "{name: team-a, labels: {tier: db, " + federated + "}}\n" + policy,
			want: []string{"Namespace team-a: changed\n", "ClusterPodSchedulingPolicy db: unchanged\n", injected},
		},
		{
			reason: "a label of the last apply that the file lacks ends the delivery", wantCode: exit.OK,
			file: head + "{name: team-a, labels: {tier: web}}\n", want: []string{"Namespace team-a: changed\n"}, unwanted: []string{injected},
		},
		{
			reason: "nothing changes", wantCode: exit.OK,
			file: head + "{name: team-a, labels: {tier: web, " + federated + "}}\n", unwanted: []string{"Namespace", injected},
		},
		{
			reason: "a Namespace alone that nothing reads", wantCode: exit.OK, file: head + "{name: team-b}\n", unwanted: []string{"Namespace"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := []string{"diff", "--hub", hub, "-f", file("change.yaml", tc.file)}
			if code := executeWithInput(t, "", args, &stdout, &stderr); code != tc.wantCode {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tc.wantCode, &stderr)
			}
			for _, part := range tc.want {
				if !strings.Contains(stdout.String(), part) {
					t.Errorf("stdout does not contain %q:\n%s", part, &stdout)
				}
			}
			for _, part := range tc.unwanted {
				if strings.Contains(stdout.String(), part) {
					t.Errorf("stdout contains %q:\n%s", part, &stdout)
				}
			}
		})
	}
}

// Issue 26, P6: a simulation says that it leaves out what a Namespace changes for delivered objects.
func TestNamespaceInTheFilesOfSimulate(t *testing.T) {
	directory := t.TempDir()
	file := func(name, content string) string { return expect.File(t, filepath.Join(directory, name), content) }
	hub := file("hub.yaml", hubOfNamespaces)
	for _, tc := range []struct {
		reason, labels string
		noted          bool
	}{
		{reason: "of federation", labels: `{federation.kubernetes.io/federated: "false"}`, noted: true},
		{reason: "of policies", labels: `{tier: db, owner: platform}`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			added := file("namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, labels: "+tc.labels+"}\n")
			var stdout bytes.Buffer
			o := simulating.Options{
				Paths: []string{added}, HubPaths: []string{hub}, Output: "table",
				Settings:    hubflags.Settings{RequestOptions: system.DefaultRequests()},
				ChangeFlags: simulating.ChangeFlags{Adding: true, Changes: []whatif.Change{simulating.ToAdd{}}},
			}
			_, err := o.Run(t.Context(), strings.NewReader(""), &stdout)
			expect.NoError(t, err)
			const note = "what Namespace team-a changes for objects that are delivered is not in the report; placement diff -f has it"
			if strings.Contains(stdout.String(), note) != tc.noted {
				t.Errorf("the note is wanted: %t; the report:\n%s", tc.noted, stdout.String())
			}
		})
	}
}
