// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/expect"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
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
			reason: "a label that a policy selects by, merged with a live label", wantCode: exitDiffers,
			file: head + "{name: team-a, labels: {tier: db, " + federated + "}}\n", want: []string{"Namespace team-a: changed\n", injected},
		},
		{
			reason: "the same beside the policy", wantCode: exitDiffers,
			file: head + "{name: team-a, labels: {tier: db, " + federated + "}}\n" + policy,
			want: []string{"Namespace team-a: changed\n", "ClusterPodSchedulingPolicy db: unchanged\n", injected},
		},
		{
			reason: "a label of the last apply that the file lacks ends the delivery", wantCode: exitOK,
			file: head + "{name: team-a, labels: {tier: web}}\n", want: []string{"Namespace team-a: changed\n"}, unwanted: []string{injected},
		},
		{
			reason: "nothing changes", wantCode: exitOK,
			file: head + "{name: team-a, labels: {tier: web, " + federated + "}}\n", unwanted: []string{"Namespace", injected},
		},
		{
			reason: "a Namespace alone that nothing reads", wantCode: exitOK, file: head + "{name: team-b}\n", unwanted: []string{"Namespace"},
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

// Issue 26, P6: a live hub is asked for what the Namespaces of the files change, and for nothing else.
func TestEffectsOfNamespaces(t *testing.T) {
	const lastApplied = `{"metadata":{"labels":{"federation.kubernetes.io/federated":"true"}}}`
	live := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "team-a", Labels: map[string]string{"tier": "web", federation.FederatedLabel: "true"},
		Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: lastApplied},
	}}
	forbidden := apierrors.NewForbidden(corev1.Resource("namespaces"), "team-a", errors.New("no role"))
	for _, tc := range []struct {
		reason, metadata string
		fails            error
		want             namespaceEffects
		wantErr          []string
	}{
		{
			reason: "a new Namespace has no workload", metadata: "{name: team-b, labels: {tier: db}}",
		},
		{
			reason: "what is there already", metadata: "{name: team-a, labels: {tier: web, " + federation.FederatedLabel + ": 'true'}}",
		},
		{reason: "a label of the last apply goes", metadata: "{name: team-a}", want: namespaceEffects{pods: true, delivery: true}},
		{
			reason: "an empty default is one", want: namespaceEffects{delivery: true},
			metadata: "{name: team-a, labels: {" + federation.FederatedLabel + ": 'true'}, annotations: {" + federation.SelectorAnnotation + ": ''}}",
		},
		{
			reason: "a missing right", metadata: "{name: team-a}", fails: forbidden,
			wantErr: []string{"read the Namespaces of the files", "no role", "leave them out of the files"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			changes, err := newChanges(statefile.Namespace{}, nil)
			expect.NoError(t, err)
			changes.Read("file", []byte("apiVersion: v1\nkind: Namespace\nmetadata: "+tc.metadata+"\n"))
			given, err := changes.State()
			expect.NoError(t, err)
			hub := interceptor.NewClient(fake.NewClientBuilder().WithObjects(live).Build(), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					if tc.fails != nil {
						return tc.fails
					}
					return c.Get(ctx, key, o, options...)
				},
			})
			effects, err := readNamespaceEffects(t.Context(), hub, changes, given)
			if effects != tc.want {
				t.Errorf("effects %+v, want %+v", effects, tc.want)
			}
			if tc.fails == nil {
				expect.NoError(t, err)
			} else {
				expect.Error(t, err, tc.wantErr)
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
			o := simulateOptions{
				files: []string{added}, hub: []string{hub}, output: "table", requestOptions: system.DefaultRequests(),
				changeFlags: changeFlags{adding: true, changes: []whatif.Change{toAdd{}}},
			}
			_, err := o.run(t.Context(), strings.NewReader(""), &stdout)
			expect.NoError(t, err)
			const note = "what Namespace team-a changes for objects that are delivered is not in the report; placement diff -f has it"
			if strings.Contains(stdout.String(), note) != tc.noted {
				t.Errorf("the note is wanted: %t; the report:\n%s", tc.noted, stdout.String())
			}
		})
	}
}
