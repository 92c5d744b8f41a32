// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/expect"
)

const (
	diffedHub = simulatedClusters + `---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: all, namespace: team-a}
spec: {numberOfClusters: 1, tolerations: [{key: gpu, operator: Exists}]}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata:
  name: all-decision-1
  namespace: team-a
  labels: {cluster.open-cluster-management.io/placement: all}
status: {decisions: [{clusterName: c1, reason: ""}]}
`
	olderDiffed = `---
apiVersion: placement.open-cluster-management.io/v1alpha1
kind: Placement
metadata: {name: all, namespace: team-a}
spec: {numberOfClusters: 1}
---
apiVersion: placement.open-cluster-management.io/v1alpha1
kind: PlacementDecision
metadata: {name: all-decision-1, namespace: team-a, labels: {placement.open-cluster-management.io: all}}
decisions: [{clusterName: c1, available: true}]
`
	olderHead  = "apiVersion: placement.open-cluster-management.io/v1alpha1\nkind: Placement\n"
	diffedHead = "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"
	unchanged  = diffedHead + "metadata: {name: all, namespace: team-a}\nspec: {numberOfClusters: 1}\n"
	emptied    = diffedHead + "metadata: {name: all, namespace: team-a}\nspec: {numberOfClusters: 0}\n"
)

// diffNow makes evaluations of tests the same every day.
const diffNow = "2026-01-31T12:00:00Z"

func TestDiff(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string { return expect.File(t, filepath.Join(dir, name), content) }
	hub, same, empty := file("hub/hub.yaml", diffedHub), filepath.Dir(file("same/same.yaml", unchanged)), file("empty.yaml", emptied)
	noNamespace := file("nonamespace.yaml", diffedHead+"metadata: {name: all}\nspec: {numberOfClusters: 0}\n")
	managed := file("managed.yaml", strings.Replace(diffedHub, "{name: all, namespace: team-a}", "{name: all, namespace: team-a, managedFields: "+
		"[{manager: scaler, operation: Update, apiVersion: cluster.open-cluster-management.io/v1beta1, fieldsType: FieldsV1, "+
		"fieldsV1: {\"f:spec\": {\"f:numberOfClusters\": {}}}}]}", 1))
	unreachable := file("unreachable", expect.Kubeconfig("https://127.0.0.1:1"))
	const fullSpec = "{predicates: [{requiredClusterSelector: {labelSelector: {}}}], tolerations: [{key: gpu, operator: Equal, value: ''}], " +
		"decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: one, groupClusterSelector: {labelSelector: {matchLabels: {a: b}}}}]}}}"
	const othersOnly = "apiVersion: policy.open-cluster-management.io/v1\nkind: Policy\nmetadata: {name: a}\n"
	const lossTable = "team-a/all: 0 gained, 1 lost, 0 kept; 0 of 0 wanted\n" +
		"  PlacementSatisfied=False (NoManagedClusterMatched): No ManagedCluster matches any of the cluster predicate; " +
		"0 of 1 clusters in scope selected; not selected: not needed, 0 wanted (1)\n" +
		"  taken from the live Placement, as kubectl apply leaves what neither this file nor the last apply sets: spec.tolerations\n" +
		"  - c1  rank 1 of 1, 0 wanted\n"

	for _, tc := range []struct {
		reason     string
		stdin      string
		args       []string
		wantCode   int
		wantStdout string
		wantStderr []string
	}{
		{
			reason: "no difference", args: []string{"-f", same, "--hub", filepath.Join(dir, "hub"), "--show-kept"},
			wantStdout: "team-a/all: no difference, 1 kept; 1 of 1 wanted\n" +
				"  taken from the live Placement, as kubectl apply leaves what neither this file nor the last apply sets: spec.tolerations\n" +
				"  = c1\n",
		},
		{reason: "a difference is code 1 without an error", args: []string{"-f", empty, "--hub", hub}, wantCode: exit.Differs, wantStdout: lossTable},
		{
			reason: "a cluster set affects the placements that use it", wantCode: exit.Differs,
			args: []string{"--hub", hub, "-f", file("set.yaml", "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\n"+
				"metadata: {name: default}\n"+
				"spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {matchLabels: {no: cluster}}}}\n")},
			wantStdout: "the cluster sets and bindings affect 1 of 1 placement: 1 placement loses 1 cluster; 1 is satisfied no more\n",
		},
		{
			reason: "a binding that is there already affects none",
			args: []string{"--hub", hub, "-f", file("binding.yaml", "apiVersion: cluster.open-cluster-management.io/v1beta2\n"+
				"kind: ManagedClusterSetBinding\nmetadata: {name: default, namespace: team-a}\nspec: {clusterSet: default}\n")},
			wantStdout: "the cluster sets and bindings affect 0 of 1 placement: no placement gains or loses a cluster; 1 does not change\n",
		},
		{
			reason: "files of standard input", stdin: emptied, args: []string{"-f", "-", "--hub", hub, "-o", "name"}, wantCode: exit.Differs,
			wantStdout: "team-a/all -c1\n",
		},
		{
			reason: "a hub of standard input", stdin: diffedHub, args: []string{"-f", empty, "--hub", "-", "-o", "name"}, wantCode: exit.Differs,
			wantStdout: "team-a/all -c1\n",
		},
		{
			reason: "several files, and a namespace for the placement that names none", wantCode: exit.Differs,
			args: []string{"-f", noNamespace, "-f", file("new.yaml", diffedHead+"metadata: {name: new, namespace: team-a}\nspec: {}\n"),
				"--hub", hub, "-n", "team-a", "-o", "name"},
			wantStdout: "team-a/all -c1\nteam-a/new +c1\n",
		},
		{
			reason: "issue 26, U9: -l compares objects of the files that have the labels", wantCode: exit.Differs,
			args: []string{"-l", "stage=prod", "--hub", hub, "-o", "name", "-f", empty,
				"-f", file("labelled.yaml", diffedHead+"metadata: {name: new, namespace: team-a, labels: {stage: prod}}\nspec: {}\n")},
			wantStdout: "team-a/new +c1\n",
		},
		{
			reason: "issue 26, U9: -l that selects nothing",
			args:   []string{"-l", "stage=test", "--hub", hub, "-f", empty}, wantCode: exit.NotCompared,
			wantStderr: []string{"there is no Placement with the labels stage=test in "},
		},
		{
			reason: "issue 26, U9: -l with labels in the file that are no texts", args: []string{"-l", "stage=test", "--hub", hub,
				"-f", file("number.yaml", diffedHead+"metadata: {name: new, namespace: team-a, labels: {stage: 1}}\nspec: {}\n")},
			wantCode: exit.NotCompared, wantStderr: []string{"number.yaml:3: Placement team-a/new: metadata.labels[stage]: must be a string"},
		},
		{
			reason: "a selector that is none", args: []string{"-l", "=", "--hub", hub, "-f", empty}, wantCode: exit.Usage,
			wantStderr: []string{"--selector: ", "kubectl get -l"},
		},
		{
			reason: "A1: a mistake is an error, the others are still told", wantCode: exit.NotCompared,
			args: []string{"-f", empty, "--hub", hub, "-o", "name",
				"-f", file("broken.yaml", diffedHead+"metadata: {name: broken, namespace: team-a}\nspec: {prioritizerPolicy: {mode: Sometimes}}\n")},
			wantStdout: "team-a/all -c1\n",
			wantStderr: []string{"Error: Placement team-a/broken would be refused, and is not in the comparison: ValidatingAdmissionPolicy ",
				"spec.prioritizerPolicy.mode: Unsupported value: \"Sometimes\""},
		},
		{
			reason: "the older API, beside a placement of the same name", wantCode: exit.Differs,
			args: []string{"-f", file("both.yaml", emptied+"---\n"+olderHead+"metadata: {name: all}\nspec: {predicates: [{clusterName: c2}]}\n"),
				"--server-side=false", "--hub", file("both-hub.yaml", diffedHub+olderDiffed), "-n", "team-a"},
			wantStdout: lossTable + "\nteam-a/all (placement.open-cluster-management.io): 0 gained, 1 lost, 0 kept; 0 of 1 wanted\n" +
				"  PlacementSatisfied=False (NotAllDecisionsScheduled): 1 cluster decisions unscheduled; " +
				"0 of 1 clusters in scope selected; not selected: predicate 1 name is c2 (1)\n" +
				"  taken from the live Placement, as kubectl apply leaves what neither this file nor the last apply sets: spec.numberOfClusters\n" +
				"  - c1  predicate 1 name is c2: is c1\n",
			wantStderr: []string{"Placement team-a/all: ", "spec.tolerations[0]: Invalid value: \"gpu\": no cluster has this taint yet"},
		},
		{
			reason: "hidden managedFields: both answers, if they differ", wantCode: exit.Differs,
			args: []string{"--hub", hub,
				"-f", file("either.yaml", diffedHead+"metadata: {name: all, namespace: team-a}\nspec: {clusterSets: [default]}\n")},
			wantStdout: "team-a/all: no difference, 1 kept; 1 of 1 wanted\n" +
				"  taken from the live Placement, as kubectl apply leaves what neither this file nor the last apply sets: spec.numberOfClusters, " +
				"spec.tolerations\n  = 1 kept\n\nif they are written by server-side apply:\n\nteam-a/all: no difference, 1 kept\n" +
				"  removed from the live Placement by server-side apply of field manager kubectl: spec.numberOfClusters, spec.tolerations\n" +
				"  = 1 kept\nit is not known how these are written: Placement team-a/all; the files hide their managedFields, which say what " +
				"server-side apply removes: add --show-managed-fields to kubectl get\n",
		},
		{
			reason: "hidden managedFields do not matter to kubectl replace",
			args:   []string{"-f", same, "--hub", hub, "--replace"},
			wantStdout: "team-a/all: no difference, 1 kept; 1 of 1 wanted\n" +
				"  removed from the live Placement by kubectl replace: spec.tolerations\n  = 1 kept\n" +
				"1 field of live objects that the files do not set would go\n",
		},
		{
			reason: "a conflict", wantCode: exit.NotCompared, args: []string{"-f", empty, "--hub", managed, "--server-side", "-o", "name"},
			wantStderr: []string{"Placement team-a/all would be refused, and is not in the comparison: Apply failed with 1 conflict: conflict with " +
				`"scaler" using cluster.open-cluster-management.io/v1beta1: .spec.numberOfClusters; use --force-conflicts`},
		},
		{
			reason: "a forced conflict", wantCode: exit.Differs,
			args:       []string{"-f", empty, "--hub", managed, "--server-side", "--field-manager", "ci", "--force-conflicts", "-o", "name"},
			wantStdout: "team-a/all -c1\n", wantStderr: []string{"no cluster has this taint yet"},
		},
		{
			reason: "fields of another manager with the live values are no conflict, also in lists", wantStdout: "team-a/full +c1\n",
			wantCode: exit.Differs, args: []string{"--server-side", "--field-manager", "ci", "-o", "name", "--hub", file("full-hub.yaml",
				diffedHub+"---\n"+diffedHead+"metadata: {name: full, namespace: team-a, managedFields: [{manager: kubectl, operation: Apply, "+
					"apiVersion: cluster.open-cluster-management.io/v1beta1, fieldsType: FieldsV1, fieldsV1: {\"f:spec\": {\"f:predicates\": {}, "+
					"\"f:tolerations\": {}, \"f:decisionStrategy\": {\"f:groupStrategy\": {\"f:decisionGroups\": {}}}}}}]}\nspec: "+fullSpec+"\n"),
				"-f", file("full.yaml", diffedHead+"metadata: {name: full, namespace: team-a}\nspec: "+fullSpec+"\n")},
		},
		{
			reason:   "issue 44, 12: warnings of the vocabulary, which the files of a hub lack, but not of the binding in the same files",
			wantCode: exit.Differs,
			args: []string{"--hub", hub, "-o", "name", "-f", file("warned.yaml", diffedHead+"metadata: {name: warned, namespace: team-a}\n"+
				"spec: {clusterSets: [global, default], predicates: "+
				"[{requiredClusterSelector: {labelSelector: {matchLabels: {tier: gold}}}}, {}]}\n---\n"+
				"apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n"+
				"metadata: {name: global, namespace: team-a}\nspec: {clusterSet: global}\n")},
			wantStdout: "team-a/warned +c2\nteam-a/warned +c1\n", wantStderr: []string{"Warning: Placement team-a/warned: ",
				"spec.predicates[1]: Invalid value: {}: has no requirement", `matchLabels: Invalid value: "tier": no cluster has this label yet`},
		},
		{
			reason: "a manager of client-side apply", args: []string{"-f", empty, "--hub", hub, "--field-manager", "ci"}, wantCode: exit.Usage,
			wantStderr: []string{"--field-manager: it is that of server-side apply; add --server-side"},
		},
		{
			reason: "conflicts of client-side apply", args: []string{"-f", empty, "--hub", hub, "--force-conflicts"}, wantCode: exit.Usage,
			wantStderr: []string{"--force-conflicts: conflicts are those of server-side apply; add --server-side"},
		},
		{
			reason: "two writes", args: []string{"-f", empty, "--hub", hub, "--replace", "--server-side"}, wantCode: exit.Usage,
			wantStderr: []string{"--replace: objects are replaced or applied"},
		},
		{
			reason: "a mistake in the older API", wantCode: exit.NotCompared,
			args: []string{"-f", file("older.yaml", olderHead+"metadata: {name: all}\nspec: {antiAffinity: {topologyKey: a}}\n"),
				"--hub", hub, "-n", "b", "-o", "name"},
			wantStderr: []string{"Placement b/all would be refused, and is not in the comparison: spec.antiAffinity.topologyKeyType: "},
		},
		{
			reason: "another namespace than asked for", args: []string{"-f", empty, "--hub", hub, "-n", "team-b"}, wantCode: exit.NotCompared,
			wantStderr: []string{empty + ":3: Placement team-a/all: metadata.namespace: is team-a, and --namespace says team-b: change one"},
		},
		{
			reason: "a file that is not there", args: []string{"-f", filepath.Join(dir, "nosuch.yaml"), "--hub", hub}, wantCode: exit.NotCompared,
			wantStderr: []string{"--filename", "nosuch.yaml"},
		},
		{
			reason: "a hub that is not there", args: []string{"-f", empty, "--hub", filepath.Join(dir, "nosuch")}, wantCode: exit.NotCompared,
			wantStderr: []string{"--hub: ", "nosuch"},
		},
		{
			reason: "no YAML", args: []string{"-f", file("bad.yaml", "a: b: c\n"), "--hub", hub}, wantCode: exit.NotCompared,
			wantStderr: []string{"bad.yaml:1: not valid YAML", "check the indentation"},
		},
		{
			reason: "a file of nothing", args: []string{"-f", file("nothing.yaml", "# no\n---\n"), "--hub", hub}, wantCode: exit.NotCompared,
			wantStderr: []string{"there is no Placement in ", "nothing.yaml", "add one with -f"},
		},
		{
			reason: "files that have objects of others alone", args: []string{"-f", file("policy.yaml", othersOnly), "--hub", hub},
			wantStderr: []string{"skipped 1 Policy\n"},
		},
		{
			reason:     "files that have objects of others alone, in JSON",
			args:       []string{"-f", file("policy.yaml", othersOnly), "--hub", hub, "-o", "json"},
			wantStdout: "{\n  \"now\": \"2026-01-31T12:00:00Z\",\n  \"placements\": []\n}\n", wantStderr: []string{"skipped 1 Policy\n"},
		},
		{
			reason: "--strict with objects of others alone", args: []string{"-f", file("policy.yaml", othersOnly), "--hub", hub, "--strict"},
			wantCode: exit.NotCompared, wantStderr: []string{"Policy"},
		},
		{
			reason: "a name that the API server would make", wantCode: exit.NotCompared, wantStderr: []string{"a generateName is not enough"},
			args: []string{"--hub", hub, "-f", file("generated.yaml", diffedHead+"metadata: {generateName: all-, namespace: team-a}\nspec: {}\n")},
		},
		{
			reason: "another kind", args: []string{"-f", file("clusters.yaml", simulatedClusters), "--hub", hub}, wantCode: exit.NotCompared,
			wantStderr: []string{"the input has 2 mistakes", "clusters.yaml:2: kind: ManagedCluster of cluster.open-cluster-management.io/v1 " +
				"cannot be compared: leave it out"},
		},
		{
			reason: "a mistake in the files of the hub", wantCode: exit.NotCompared,
			args:       []string{"-f", empty, "--hub", file("typo.yaml", strings.Replace(diffedHub, "clusterSet:", "set:", 1))},
			wantStderr: []string{"typo.yaml:", "ManagedClusterSetBinding team-a/default: spec.set: unknown field"},
		},
		{
			reason: "a hub that does not answer", args: []string{"-f", empty, "--kubeconfig", unreachable}, wantCode: exit.NotCompared,
			wantStderr: []string{"cannot reach the API server at https://127.0.0.1:1", "--kubeconfig names the right one"},
		},
		{
			reason: "a kubeconfig that is not there", args: []string{"-f", empty, "--kubeconfig", filepath.Join(dir, "none")},
			wantCode: exit.NotCompared, wantStderr: []string{"loading the kubeconfig", "none", "name another with --kubeconfig"},
		},
		{
			reason: "a context that is not there", args: []string{"-f", empty, "--kubeconfig", unreachable, "--context", "nosuch"},
			wantCode: exit.NotCompared, wantStderr: []string{"loading the kubeconfig", "nosuch", "--context"},
		},
		{
			reason: "no file", args: []string{"--hub", hub}, wantCode: exit.Usage,
			wantStderr: []string{"--filename: give at least one", "Run 'placement diff --help'"},
		},
		{
			reason: "standard input for both", args: []string{"-f", "-", "--hub", "-"}, wantCode: exit.Usage,
			wantStderr: []string{"standard input (-) can be read only once"},
		},
		{
			reason: "two hubs", args: []string{"-f", empty, "--hub", hub, "--context", "prod"}, wantCode: exit.Usage,
			wantStderr: []string{"--hub: the hub is read from files"},
		},
		{
			reason: "an unknown format", args: []string{"-f", empty, "--hub", hub, "-o", "xml"}, wantCode: exit.Usage,
			wantStderr: []string{`--output: unknown format "xml"`},
		},
		{
			reason: "a time that is none", args: []string{"-f", empty, "--hub", hub, "--now", "noon"}, wantCode: exit.Usage,
			wantStderr: []string{`--now: "noon" is no time such as`},
		},
		{reason: "an unknown flag", args: []string{"--files"}, wantCode: exit.Usage, wantStderr: []string{"unknown flag: --files"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := executeWithInput(t, tc.stdin, append([]string{"diff", "--now", diffNow}, tc.args...), &stdout, &stderr)
			if code != tc.wantCode {
				t.Errorf("exit code %d, want %d", code, tc.wantCode)
			}
			if diff := cmp.Diff(tc.wantStdout, stdout.String()); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			for _, part := range tc.wantStderr {
				if !strings.Contains(stderr.String(), part) {
					t.Errorf("stderr does not contain %q:\n%s", part, stderr.String())
				}
			}
			if len(tc.wantStderr) == 0 && stderr.String() != "" {
				t.Errorf("stderr is %q", stderr.String())
			}
		})
	}
}

// A hub is found as kubectl finds it: by $KUBECONFIG too, with the namespace of the context.
func TestDiffFindsTheHub(t *testing.T) {
	kubeconfig := expect.File(t, filepath.Join(t.TempDir(), "config"), strings.Replace(expect.Kubeconfig("https://127.0.0.1:1"),
		"context: {", "context: {namespace: team-z, ", 1))
	t.Setenv("KUBECONFIG", kubeconfig)

	var flags hubflags.Hub
	config, namespace, err := flags.Find()
	expect.NoError(t, err)
	if config.Host != "https://127.0.0.1:1" || namespace != "team-z" || config.Timeout != 30*time.Second {
		t.Errorf("found %s, namespace %s, timeout %v", config.Host, namespace, config.Timeout)
	}
	flags.Namespace = "team-a"
	if _, namespace, err = flags.Find(); err != nil || namespace != "team-a" {
		t.Errorf("namespace %s, error %v", namespace, err)
	}
}

func TestDiffWithoutAHub(t *testing.T) {
	var flags hubflags.Hub
	_, _, err := flags.Find()
	expect.Error(t, err, []string{"no hub to connect to", "--kubeconfig", "--server"})
}

func TestDiffReportsWriteErrors(t *testing.T) {
	dir := t.TempDir()
	o := diffOptions{
		files: []string{expect.File(t, filepath.Join(dir, "new.yaml"), unchanged)}, output: string(printers.FormatTable),
		hub:      []string{expect.File(t, filepath.Join(dir, "hub.yaml"), diffedHub)},
		Settings: hubflags.Settings{RequestOptions: system.DefaultRequests()},
	}
	if _, err := o.run(t.Context(), strings.NewReader(""), closedOutput{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error is %v, want %v", err, os.ErrClosed)
	}
}

type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) { return 0, os.ErrClosed }
