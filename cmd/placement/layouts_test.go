// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/test/expect"
)

const layouts = "testdata/layouts/"

// The commands read files as people have them: the hub's objects among those that others read, in the layouts of their tools.
func TestLayouts(t *testing.T) {
	const (
		policies  = "skipped 2 PlacementBinding, 1 Policy, 1 PolicySet\n"
		argocd    = "skipped 1 ApplicationSet, 1 GitOpsCluster\n"
		kustomize = "skipped 1 ClusterPolicy, 1 HorizontalPodAutoscaler, 1 NetworkPolicy, 1 PersistentVolumeClaim, 1 ServiceMonitor\n"
	)
	world := func(layout string) []string { return []string{"-f", layouts + "hub.yaml", "-f", layouts + layout} }
	changed := func(layout string) []string { return []string{"-f", layouts + layout, "--hub", layouts + "hub.yaml"} }
	for _, tc := range []struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{
			append(world("policies"), "simulate"), exit.OK,
			"policies/placement-baseline eu1\npolicies/placement-baseline us1\npolicies/placement-policy-namespace eu1\n", policies,
		},
		{append(world("policies"), "explain", "policies/placement-policy-namespace"), exit.OK, "policies/placement-policy-namespace eu1\n", policies},
		{
			append(changed("policies"), "diff"), exit.Differs,
			"policies/placement-baseline +eu1\npolicies/placement-baseline +us1\npolicies/placement-policy-namespace +eu1\n", policies,
		},
		{append(changed("policies"), "diff", "--strict"), exit.NotCompared, "", "PolicySet of policy.open-cluster-management.io/v1beta1 is not read"},
		{append(world("policies"), "simulate", "--strict"), exit.Usage, "", "kind: Policy of policy.open-cluster-management.io/v1 is not read"},
		{append(world("argocd"), "simulate"), exit.OK, "openshift-gitops/guestbook eu1\n", argocd},
		{append(world("argocd"), "federated", "-A"), exit.OK, "", argocd},
		{append(changed("argocd"), "diff"), exit.Differs, "openshift-gitops/guestbook +eu1\n", argocd},
		{append(world("kustomize"), "simulate", "-n", "shop", "--placement", "shop/shop"), exit.OK, "shop/shop us1\n", kustomize},
		{append(world("kustomize"), "explain", "shop", "-n", "shop"), exit.OK, "shop/shop us1\n", kustomize},
		{
			append(changed("kustomize"), "diff", "-n", "shop"), exit.Differs, "shop/shop +us1\n",
			"skipped 1 ClusterPolicy, 1 ClusterRole, 1 HorizontalPodAutoscaler, 1 NetworkPolicy, 1 PersistentVolumeClaim, 1 ServiceAccount, " +
				"1 ServiceMonitor, 1 StatefulSet\n",
		},
	} {
		args := slices.Concat(tc.args, []string{"-o", "name"})
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := execute(t.Context(), args, &stdout, &stderr); code != tc.code {
				t.Errorf("exit code %d, want %d; stderr %s", code, tc.code, &stderr)
			}
			if diff := cmp.Diff(tc.stdout, stdout.String()); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			if got := stderr.String(); got != tc.stderr && (!strings.Contains(got, tc.stderr) || tc.code != exit.Usage) {
				t.Errorf("stderr %q, want %q", got, tc.stderr)
			}
		})
	}
}

// An object without a namespace is in the one that kubectl would apply it to, in every command that reads files.
func TestNamespaceOfFiles(t *testing.T) {
	dir := t.TempDir()
	kubeconfig := expect.File(t, filepath.Join(dir, "kubeconfig"), expect.Kubeconfig("https://127.0.0.1:1"))
	inContext := expect.File(t, filepath.Join(dir, "context"),
		strings.Replace(expect.Kubeconfig("https://127.0.0.1:1"), "context: {", "context: {namespace: shop, ", 1))
	broken := expect.File(t, filepath.Join(dir, "broken"), "contexts: 1")
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: web}]}\n"
	world := expect.File(t, filepath.Join(dir, "world.yaml"), simulatedClusters+"---\n"+diffedHead+"metadata: {name: p}\nspec: {}\n---\n"+
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n---\n"+pod)
	clusters := expect.File(t, filepath.Join(dir, "clusters.yaml"), simulatedClusters)
	added := expect.File(t, filepath.Join(dir, "pod.yaml"), pod)
	placement := expect.File(t, filepath.Join(dir, "placement.yaml"), diffedHead+"metadata: {name: p}\nspec: {}\n")
	for _, command := range []struct {
		args []string
		want string // with the namespace for %s
	}{
		{[]string{"simulate", "-A", "-f", world}, "\"placement\": \"%s/p\""},
		{[]string{"simulate", "-A", "--hub", world}, "\"placement\": \"%s/p\""},
		{[]string{"simulate", "-A", "--hub", clusters, "--add", "-f", added}, "\"namespace\": \"%s\""},
		{[]string{"explain", "p", "-f", world}, "\"placement\": \"%s/p\""},
		{[]string{"explain", "pod/web", "-f", world}, "\"namespace\": \"%s\""},
		{[]string{"federated", "configmap/settings", "-f", world}, "\"namespace\": \"%s\""},
		{[]string{"diff", "-f", placement, "--hub", clusters}, "\"placement\": \"%s/p\""},
		{[]string{"diff", "-f", placement, "--hub", world}, "\"placement\": \"%s/p\""},
	} {
		for _, tc := range []struct {
			reason, kubeconfig, flag, want string
		}{
			{"the flag", inContext, "team-a", "team-a"},
			{"the context", inContext, "", "shop"},
			{"a context without a namespace", kubeconfig, "", "default"},
			{"no kubeconfig", filepath.Join(dir, "nosuch"), "", "default"},
			{"the flag, beside a kubeconfig that cannot be read", broken, "team-a", "team-a"},
			{"a kubeconfig that cannot be read", broken, "", ""},
		} {
			args := append(slices.Clone(command.args), "-o", "json")
			if tc.flag != "" {
				args = append(args, "-n", tc.flag)
			}
			t.Run(strings.Join(command.args[:2], " ")+" "+tc.reason, func(t *testing.T) {
				t.Setenv("KUBECONFIG", tc.kubeconfig)
				var stdout, stderr bytes.Buffer
				execute(t.Context(), args, &stdout, &stderr)
				if want := fmt.Sprintf(command.want, tc.want); tc.want != "" && (!strings.Contains(stdout.String(), want) || stderr.Len() > 0) {
					t.Errorf("stdout lacks %s: %s; stderr %s", want, &stdout, &stderr)
				}
				if tc.want == "" && !strings.Contains(stderr.String(), "name a namespace with --namespace") {
					t.Errorf("stderr %s", &stderr)
				}
			})
		}
	}
}

// --only-namespace selects what simulate reports. --namespace does so in files too, with a warning where it matters.
func TestOnlyNamespace(t *testing.T) {
	placements := expect.File(t, filepath.Join(t.TempDir(), "placements.yaml"), simulatedClusters+"---\n"+labelledPlacements+
		"---\n"+diffedHead+"metadata: {name: none}\nspec: {}\n")
	const warning = "warning: --namespace will be the namespace of objects without one alone"
	for _, tc := range []struct {
		args      []string
		code      int
		placement []string
		warned    bool
	}{
		{nil, exit.OK, []string{"default/none", "team-a/p", "team-b/q"}, false},
		{[]string{"-n", "team-a"}, exit.OK, []string{"team-a/none", "team-a/p"}, true},
		{[]string{"-n", "team-a", "-A"}, exit.OK, []string{"team-a/none", "team-a/p", "team-b/q"}, false},
		{[]string{"--only-namespace", "team-a"}, exit.OK, []string{"team-a/p"}, false},
		{[]string{"-n", "team-a", "--only-namespace", "team-b"}, exit.OK, []string{"team-b/q"}, false},
		{[]string{"-A", "--only-namespace", "team-b"}, exit.Usage, nil, false},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			code, stdout, stderr := simulate(t, "", append([]string{"-f", placements, "-o", "json"}, tc.args...)...)
			var reports explain.Reports
			if code == exit.OK {
				expect.NoError(t, json.Unmarshal([]byte(stdout), &reports))
			}
			var got []string
			for _, report := range reports.Placements {
				got = append(got, report.Placement)
			}
			if diff := cmp.Diff(tc.placement, got); diff != "" || code != tc.code || strings.Contains(stderr, warning) != tc.warned {
				t.Errorf("exit code %d, stderr %s, placements (-want +got):\n%s", code, stderr, diff)
			}
		})
	}
	for _, flags := range [][]string{{"-A", "-n", "a"}, {"--only-namespace", "a", "-n", "b"}} {
		if code, _, stderr := simulate(t, "", flags...); code != exit.Usage || !strings.Contains(stderr, "without files") {
			t.Errorf("%q: exit code %d, stderr %s", flags, code, stderr)
		}
	}
}
