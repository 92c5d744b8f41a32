// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
			append(world("policies"), "simulate"), exitOK,
			"policies/placement-baseline eu1\npolicies/placement-baseline us1\npolicies/placement-policy-namespace eu1\n", policies,
		},
		{append(world("policies"), "explain", "policies/placement-policy-namespace"), exitOK, "policies/placement-policy-namespace eu1\n", policies},
		{
			append(changed("policies"), "diff"), exitDiffers,
			"policies/placement-baseline +eu1\npolicies/placement-baseline +us1\npolicies/placement-policy-namespace +eu1\n", policies,
		},
		{append(changed("policies"), "diff", "--strict"), exitNotCompared, "", "kind: PolicySet of policy.open-cluster-management.io/v1beta1 is not read"},
		{append(world("policies"), "simulate", "--strict"), exitUsage, "", "kind: Policy of policy.open-cluster-management.io/v1 is not read"},
		{append(world("argocd"), "simulate"), exitOK, "openshift-gitops/guestbook eu1\n", argocd},
		{append(world("argocd"), "federated", "-A"), exitOK, "", argocd},
		{append(changed("argocd"), "diff"), exitDiffers, "openshift-gitops/guestbook +eu1\n", argocd},
		{append(world("kustomize"), "simulate", "--placement", "shop/shop"), exitOK, "shop/shop us1\n", kustomize},
		{append(world("kustomize"), "explain", "shop/shop"), exitOK, "shop/shop us1\n", kustomize},
		{
			append(changed("kustomize"), "diff"), exitDiffers, "shop/shop +us1\n",
			"skipped 1 ClusterPolicy, 1 ClusterRole, 1 HorizontalPodAutoscaler, 1 NetworkPolicy, 1 PersistentVolumeClaim, 1 ServiceAccount, " +
				"1 ServiceMonitor, 1 StatefulSet\n",
		},
	} {
		args := append(tc.args, "-o", "name")
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := execute(t.Context(), args, &stdout, &stderr); code != tc.code {
				t.Errorf("exit code %d, want %d; stderr %s", code, tc.code, &stderr)
			}
			if diff := cmp.Diff(tc.stdout, stdout.String()); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			if got := stderr.String(); got != tc.stderr && (!strings.Contains(got, tc.stderr) || tc.code != exitUsage) {
				t.Errorf("stderr %q, want %q", got, tc.stderr)
			}
		})
	}
}
