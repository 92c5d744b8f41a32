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

// E3: files are checked by the admission policies of the hub, by what their objects are to it: stored objects were admitted, described ones without a
// UID and applied ones are not yet.
func TestPoliciesCheckFiles(t *testing.T) {
	directory := t.TempDir()
	file := func(name, content string) string {
		return expect.File(t, filepath.Join(directory, name+".yaml"), content)
	}
	const (
		head     = "apiVersion: cluster.open-cluster-management.io/"
		bindings = head + "v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {name: blue, namespace: team-a"
	)
	binding, stored := file("binding", bindings+"}\nspec: {clusterSet: green}\n"), file("stored", bindings+", uid: u}\nspec: {clusterSet: green}\n")
	bound := file("bound", bindings+"}\nspec: {clusterSet: blue}\n")
	cluster := func(name string) string {
		return file(name, head+"v1\nkind: ManagedCluster\nmetadata: {name: "+name+", uid: u}\nspec: {hubAcceptsClient: true}\n")
	}
	added := func(name string) string {
		return file("added"+name, head+"v1\nkind: ManagedCluster\nmetadata: {name: "+name+"}\nspec: {hubAcceptsClient: true}\n")
	}
	placement := func(name, spec string) string {
		return file(name, head+"v1beta1\nkind: Placement\nmetadata: {name: p, namespace: team-a}\nspec: "+spec+"\n")
	}
	older := file("older", "apiVersion: placement.open-cluster-management.io/v1alpha1\nkind: Placement\nmetadata: {name: p, namespace: team-a}\n"+
		"spec: {predicates: ["+strings.Repeat("{clusterName: c1},", 65)+"]}\n")
	long := strings.Repeat("a", 64)
	plain, negative := placement("plain", "{}"), placement("negative", "{numberOfClusters: -1}")
	off := file("off", "apiVersion: v1\nkind: Namespace\n"+
		"metadata: {name: team-a, labels: {placement-hub.open-cluster-management.io/admission: 'off'}}\n")
	words := file("words", "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: open-cluster-management-hub, name: placement-vocabulary}\n"+
		"data: {bound: ''}\n")
	unbound := placement("unbound", "{clusterSets: [blue]}")
	hub := file("hub", head+"v1\nkind: ManagedCluster\nmetadata: {name: c1}\nspec: {}\n")

	const (
		sameName, wrongName = "must have the same name as the target ManagedClusterSet", "denied request: metadata.name format is not correct"
		wrongNumber         = "denied request: spec.numberOfClusters: Invalid value: -1: must be 0 or more"
		rights              = "not evaluated: the rights for which admission policies ask: open-cluster-management-placement-hub-"
	)
	for _, tc := range []struct {
		reason, line string
		code         int
		stderr       string // empty: nothing
	}{
		{"simulate refuses a binding", "simulate -f " + plain + " -f " + binding, exit.Usage, sameName},
		{
			"explain too", "explain p -n team-a -f " + plain + " -f " + binding,
			exit.Usage, binding + ":1: ManagedClusterSetBinding team-a/blue: Validating",
		},
		{"federated too", "federated -f " + binding, exit.Usage, sameName},
		{"a binding that a hub has stored stays", "simulate -f " + plain + " -f " + stored, exit.OK, ""},
		{
			"--hub has what a hub has stored", "simulate --add --hub " + plain + " --hub " + binding + " -f " + added("c2"),
			exit.OK, rights + "clusters\n",
		},
		{"diff does not check it either", "diff --hub " + hub + " --hub " + binding + " -f " + plain, exit.OK, ""},
		{"dots in the name of a cluster", "simulate -f " + plain + " -f " + added("a.b.c"), exit.Usage, wrongName},
		{"a name of 64 characters", "simulate -f " + plain + " -f " + added(long), exit.Usage, wrongName},
		{"a cluster that is added", "simulate --add --hub " + plain + " --hub " + hub + " -f " + added("d.e"), exit.Usage, wrongName},
		{
			"what is added is not stored, whatever its UID", "simulate --add --hub " + plain + " --hub " + hub + " -f " + cluster("f.g"),
			exit.Usage, wrongName,
		},
		{"the older API has limits", "simulate -f " + older, exit.Usage, "spec.predicates: Too many: 65"},
		{"diff refuses a binding", "diff --hub " + hub + " -f " + plain + " -f " + binding, exit.NotCompared, sameName},
		{"a UID in a file that is applied means nothing", "diff --hub " + hub + " -f " + plain + " -f " + stored, exit.NotCompared, sameName},
		{
			"an update that changes nothing", "diff --hub " + hub + " --hub " + plain + " --hub " + stored + " -f " + plain + " -f " + binding,
			exit.OK, "",
		},
		{"a user may bind the set, or not", "diff --hub " + hub + " -f " + plain + " -f " + bound, exit.OK, rights + "bindings\n"},
		{"a Placement that can never work", "simulate -f " + negative, exit.Usage, wrongNumber},
		{"a namespace that is exempt", "simulate -f " + negative + " -f " + off, exit.OK, ""},
		{
			"a namespace of the hub that is exempt", "diff --hub " + hub + " --hub " + off + " -f " + negative,
			exit.NotCompared, "no answer for Placement",
		},
		{
			"a namespace of the files that is exempt", "diff --hub " + hub + " -f " + off + " -f " + negative,
			exit.NotCompared, "no answer for Placement",
		},
		{
			"a warning", "simulate -f " + unbound + " -f " + words,
			exit.OK, "Warning: " + unbound + ":1: Placement team-a/p: Validation failed for ",
		},
		{
			"a warning of diff", "diff --hub " + hub + " --hub " + words + " -f " + unbound,
			exit.OK, "Warning: Placement team-a/p: Validation failed for ",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := execute(t.Context(), strings.Fields(tc.line), &stdout, &stderr)
			if code != tc.code || !strings.Contains(stderr.String(), tc.stderr) || tc.stderr == "" && stderr.Len() > 0 {
				t.Errorf("exit code %d, want %d; stderr %q, want %q", code, tc.code, stderr.String(), tc.stderr)
			}
		})
	}
}
