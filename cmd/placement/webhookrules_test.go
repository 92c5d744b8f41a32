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

// E3: every command that takes a kind reports what the webhooks and the validation rules of that kind refuse, in their words.
// It is a mistake, but for what webhooks say of objects that describe a hub. Nothing asks an API server.
func TestFilesAreAsStrictAsWebhooks(t *testing.T) {
	directory := t.TempDir()
	file := func(name, content string) string {
		return expect.File(t, filepath.Join(directory, name+".yaml"), content)
	}
	const (
		kupid   = "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: "
		cozy    = "apiVersion: cozystack.io/v1alpha1\nkind: AffinityClass\nmetadata: {name: dc1"
		tenant  = "apiVersion: apps.cozystack.io/v1alpha1\nkind: Tenant\nmetadata: {namespace: tenant-root, name: "
		openmcp = "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: "
		cluster = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: c1}\nspec: {}\n"
	)
	placement := file("placement", "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"+
		"metadata: {name: p, namespace: team-a}\nspec: {}\n")
	hub := file("hub", cluster)
	commands := map[string]func(file string) string{
		"simulate":       func(file string) string { return "simulate -f " + placement + " -f " + file },
		"explain":        func(file string) string { return "explain p -n team-a -f " + placement + " -f " + file },
		"federated":      func(file string) string { return "federated -f " + file },
		"diff":           func(file string) string { return "diff --hub " + hub + " -f " + placement + " -f " + file },
		"simulate --add": func(file string) string { return "simulate --add --hub " + hub + " --hub " + placement + " -f " + file },
	}
	described := map[string]bool{"simulate": true, "explain": true, "federated": true}
	for _, tc := range []struct{ name, object, words string }{
		{
			"policy", kupid + "PodSchedulingPolicy\nmetadata: {name: p, namespace: team-a}\n" +
				"spec: {podSelector: {}, tolerations: [{operator: Equal}]}\n",
			"spec.tolerations[0].operator",
		},
		{
			"clusterpolicy", kupid + "ClusterPodSchedulingPolicy\nmetadata: {name: p}\n" +
				"spec: {namespaceSelector: {}, podSelector: {}, nodeSelector: {'not a key': a}}\n",
			"spec.nodeSelector",
		},
		{"class", cozy + strings.Repeat("a", 63) + "}\nspec: {nodeSelector: {zone: a}}\n", "must have at most 63 characters"},
		{"tenant", tenant + "a}\nspec: {allowedAffinityClasses: [dc1], defaultAffinityClass: dc2}\n", "spec.defaultAffinityClass"},
		{
			"request", openmcp + "ClusterRequest\nmetadata: {name: r, namespace: team-a}\nspec: {purposes: [a], traits: [{name: x, trait: z}]}\n",
			"needs exactly one of trait, name and anyOf",
		},
		{
			"purpose", openmcp + "Purpose\nmetadata: {name: a}\nspec: {traits: [{name: x, trait: z}]}\n",
			"needs exactly one of trait, name and anyOf",
		},
	} {
		object := file(tc.name, tc.object)
		for name, line := range commands {
			t.Run(tc.name+"/"+name, func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				code := execute(t.Context(), strings.Fields(line(object)), &stdout, &stderr)
				warned := described[name] && !strings.HasPrefix(tc.object, openmcp)
				said := stdout.String() + stderr.String()
				if (code == exit.OK) != warned || !strings.Contains(said, tc.words) || warned != strings.Contains(said, "admission would refuse it") {
					t.Errorf("exit code %d, want a mistake with %q:\n%s", code, tc.words, said)
				}
			})
		}
	}
}
