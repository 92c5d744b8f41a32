// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/test/expect"
)

const explainedPods = "../../docs/examples/pods.yaml"

func TestExplainWorkload(t *testing.T) {
	twins := expect.File(t, filepath.Join(t.TempDir(), "twins.yaml"),
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\nspec: {containers: []}\n---\n"+
			"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: b}\nspec: {containers: []}\n")
	unknown := expect.File(t, filepath.Join(t.TempDir(), "unknown.yaml"),
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\nspec:\n  containers: []\n  nodeSelektor: {a: b}\n")
	for _, tc := range []struct {
		reason     string
		args       []string
		wantCode   int
		wantStdout []string
		wantStderr []string
	}{
		{
			reason:     "the form TYPE NAME, a short name, and one line for each node that fits",
			wantStdout: []string{"tenant-acme/main-db n1\ntenant-acme/main-db n3\n"},
			args:       []string{"sts", "main-db", "-f", explainedPods, "-o", "name"},
		},
		{
			reason: "several workloads", wantStdout: []string{"Deployment tenant-acme/web: ", "\n\nStatefulSet tenant-acme/main-db: "},
			args: []string{"deployments.apps/web", "statefulset.v1.apps/main-db", "-f", explainedPods},
		},
		{
			reason: "JSON", wantStdout: []string{`"drift": [`, `"mismatch": "pod label app=web: is \"etcd\""`},
			args: []string{"sts/main-db", "-f", explainedPods, "-o", "json"},
		},
		{
			reason: "a workload that does not exist", args: []string{"job/main-db", "-f", explainedPods}, wantCode: exit.Failure,
			wantStderr: []string{"there is no Job main-db; correct the name or the namespace"},
		},
		{
			reason: "one name in two namespaces", args: []string{"po/p", "-f", twins}, wantCode: exit.Failure,
			wantStderr: []string{"there is a Pod p in each of the namespaces a, b: choose one with -n"},
		},
		{reason: "one of them", args: []string{"po/p", "-f", twins, "-n", "b"}, wantStdout: []string{"Pod b/p: "}},
		{
			reason: "a misspelled field has its line", args: []string{"po/p", "-f", unknown}, wantCode: exit.Usage,
			wantStderr: []string{unknown + ":6: Pod a/p: spec.nodeSelektor: unknown field"},
		},
		{
			reason: "a placement and a workload", args: []string{"a/b", "pod/p", "-f", twins}, wantCode: exit.Failure,
			wantStderr: []string{"there is no Placement a/b", "there is a Pod p in each of the namespaces a, b"},
		},
		{
			reason: "too many parts", args: []string{"pod/a/p", "-f", twins}, wantCode: exit.Usage,
			wantStderr: []string{`"pod/a/p" does not name a Pod: write pod/NAME, and the namespace with -n`},
		},
		{
			reason: "a name with a slash after the type", args: []string{"pod", "a/p", "-f", twins}, wantCode: exit.Usage,
			wantStderr: []string{`"a/p" is no name of a Pod`},
		},
		{
			reason: "a flag of placements", args: []string{"pod/p", "-f", twins, "--cluster", "c"}, wantCode: exit.Usage,
			wantStderr: []string{"they are about placements"},
		},
		{
			reason: "a list of placements", args: []string{"pod/p", "-f", twins, "--all"}, wantCode: exit.Usage,
			wantStderr: []string{"they list placements"},
		},
		{reason: "a watch", args: []string{"pod/p", "-w"}, wantCode: exit.Usage, wantStderr: []string{"placement federated TYPE/NAME --watch"}},
		{reason: "a format", args: []string{"pod/p", "-f", twins, "-o", "xml"}, wantCode: exit.Usage, wantStderr: []string{`unknown format "xml"`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			code, stdout, stderr := runExplain(t, tc.args...)
			if code != tc.wantCode {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tc.wantCode, stderr)
			}
			for _, part := range tc.wantStdout {
				if !strings.Contains(stdout, part) {
					t.Errorf("stdout does not contain %q:\n%s", part, stdout)
				}
			}
			for _, part := range tc.wantStderr {
				if !strings.Contains(stderr, part) {
					t.Errorf("stderr does not contain %q:\n%s", part, stderr)
				}
			}
		})
	}
}

// A Placement in a namespace that is named like a type is not taken for a workload when the namespace is given apart.
func TestParseWorkloadsLeavesPlacementsAlone(t *testing.T) {
	for _, args := range [][]string{{"team-a/p"}, {"placement/p"}, {"placement", "p"}, {"p"}, {"pod"}, {"deployments.cluster/p"}} {
		workloads, err := objectnames.ParseWorkloads(args, "pod")
		if diff := cmp.Diff([]hubstate.Workload(nil), workloads); err != nil || diff != "" {
			t.Errorf("%v: error %v, workloads (-want +got):\n%s", args, err, diff)
		}
	}
}

func TestDiffOfPolicies(t *testing.T) {
	directory := t.TempDir()
	file := func(name, content string) string { return expect.File(t, filepath.Join(directory, name), content) }
	const head = "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: PodSchedulingPolicy\n"
	for _, tc := range []struct {
		reason     string
		args       []string
		wantCode   int
		wantStdout string
		wantStderr []string
	}{
		{
			reason: "K38: what has drifted is due anyway; the policy gets the namespace of -n, and live fields stay", wantCode: exit.Differs,
			args: []string{"-n", "tenant-acme", "-f",
				file("same.yaml", head+"metadata: {name: web}\nspec: {podSelector: {matchLabels: {app: web}}}\n")},
			wantStdout: "PodSchedulingPolicy tenant-acme/web: unchanged\n" +
				"  taken from the live object, as kubectl apply leaves what neither this file nor the last apply sets: spec.nodeSelector\n\n" +
				"StatefulSet tenant-acme/main-db: the next update adds nodeSelector[pool], tolerations (due anyway)\n" +
				"  new Pods are refused: pod tenant-acme/main-db-0 belongs to application with AffinityClass \"dc1\" " +
				"but missing required nodeSelector zone=dc1\n" +
				"  2/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.\n" + etcdPatch,
		},
		{
			reason: "names", wantCode: exit.Differs, args: []string{"-f", "../../docs/examples/policy.yaml", "-o", "name"},
			wantStdout: "tenant-acme/main-db@statefulset -n3\ntenant-acme/main-db@statefulset ~nodeSelector[pool]\n" +
				"tenant-acme/main-db@statefulset ~tolerations\ntenant-acme/main-db@statefulset ~nodeSelector[zone]\n",
		},
		{
			reason: "a Tenant with another default", wantCode: exit.Differs,
			args: []string{"-o", "name", "-f", file("tenant.yaml", "apiVersion: apps.cozystack.io/v1alpha1\nkind: Tenant\n"+
				"metadata: {name: acme, namespace: tenant-root}\nspec: {defaultAffinityClass: '', allowedAffinityClasses: [dc1], etcd: true}\n")},
			wantStdout: "tenant-acme/main-db@statefulset ~nodeSelector[pool]\ntenant-acme/main-db@statefulset ~tolerations\n",
		},
		{
			reason: "a policy that admission refuses is an error", wantCode: exit.NotCompared,
			args: []string{"-o", "name", "-f",
				file("bad.yaml", head+"metadata: {name: bad, namespace: a}\nspec: {podSelector: {}, nodeName: A_B}\n")},
			wantStdout: "tenant-acme/main-db@statefulset ~nodeSelector[pool]\ntenant-acme/main-db@statefulset ~tolerations\n",
			wantStderr: []string{"PodSchedulingPolicy a/bad would be refused, and is not in the comparison: spec.nodeName: Invalid value"},
		},
		{
			reason: "a misspelled field has its line", wantCode: exit.NotCompared,
			args:       []string{"-f", file("typo.yaml", head+"metadata: {name: bad, namespace: a}\nspec:\n  podSelektor: {}\n")},
			wantStderr: []string{"typo.yaml:5: PodSchedulingPolicy.kupid.gardener.cloud a/bad: spec.podSelektor: unknown field"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append([]string{"diff", "--hub", explainedPods}, tc.args...)
			if code := executeWithInput(t, "", args, &stdout, &stderr); code != tc.wantCode {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tc.wantCode, &stderr)
			}
			if diff := cmp.Diff(tc.wantStdout, stdout.String()); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			for _, part := range tc.wantStderr {
				if !strings.Contains(stderr.String(), part) {
					t.Errorf("stderr does not contain %q:\n%s", part, &stderr)
				}
			}
		})
	}
}

const etcdPatch = `--- LIVE/apps.v1.StatefulSet.tenant-acme.main-db
+++ MERGED/apps.v1.StatefulSet.tenant-acme.main-db
@@ -18,3 +18,10 @@
       containers:
       - image: postgres
         name: db
+      nodeSelector:
+        pool: etcd
+      tolerations:
+      - effect: NoSchedule
+        key: pool
+        operator: Equal
+        value: etcd
`
