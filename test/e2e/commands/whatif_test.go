// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// newClusters join the fleet of the samples; the second names no set.
const newClusters = `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: stage-eu9, labels: {env: staging, cluster.open-cluster-management.io/clusterset: staging}}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: astray}
`

// wantWhatIf is a part of a story on a hub that has settled: what is told of changes is what then happens.
func wantWhatIf(t *testing.T, h *suite.Hub, settle func(...string), file func(name, content string) string) {
	t.Helper()
	auditor := auditor(t, h, "auditor")
	whatIf := func(args ...string) *suite.Program {
		return suite.Run(t, append([]string{"simulate", "--kubeconfig", auditor}, args...)...)
	}
	lines := func(p *suite.Program) []string {
		return slices.Sorted(strings.Lines(strings.ReplaceAll(p.Stdout.String(), "@"+olderGroup, "")))
	}
	before := decisions(t, h)

	t.Run("without changes the live hub is explained", func(t *testing.T) {
		p := whatIf("-o", "name")
		p.WantExit(t, 0)
		written := make([]string, 0, len(before))
		for _, line := range before {
			fields := strings.Fields(line)
			written = append(written, fields[0]+" "+fields[1]+"\n")
		}
		slices.Sort(written)
		if got := lines(p); !slices.Equal(got, written) {
			t.Errorf("simulate says:\n%swritten is:\n%s", strings.Join(got, ""), strings.Join(written, ""))
		}
	})

	t.Run("clusters are added to the live hub", func(t *testing.T) {
		p := whatIf("--add", "-f", file("clusters.yaml", newClusters))
		p.WantExit(t, 0)
		for _, part := range []string{
			"what if: add stage-eu9, astray (so that it is in the set default)\n", "team-c/nightly: 1 gained", "\n  + stage-eu9  score",
		} {
			if !strings.Contains(p.Stdout.String(), part) {
				t.Errorf("the table lacks %q; %s", part, p)
			}
		}
	})

	changes := []string{"--drain", "eu2", "--remove", "us2", "--label", "stage-us1:env=prod", "--without-binding", "team-b/edge", "-o", "name"}
	p := whatIf(append(changes, "--exit-code")...)
	p.WantExit(t, 1)
	told := lines(p)
	if len(told) == 0 {
		t.Fatalf("nothing was told; %s", p)
	}

	t.Run("what is told comes true", func(t *testing.T) {
		wantOnlyReads(t, h, "system:serviceaccount:default:auditor")
		if now := decisions(t, h); !slices.Equal(before, now) {
			t.Errorf("decisions were %q and are %q", before, now)
		}
		suite.Kubectl(t, h.AdminKubeconfig, "patch", "managedcluster", "eu2", "--type=json",
			"-p", `[{"op": "add", "path": "/spec/taints", "value": [{"key": "drain", "effect": "NoSelect"}]}]`)
		suite.Kubectl(t, h.AdminKubeconfig, "delete", "managedcluster", "us2")
		suite.Kubectl(t, h.AdminKubeconfig, "label", "--overwrite", "managedcluster", "stage-us1", "env=prod")
		suite.Kubectl(t, h.AdminKubeconfig, "delete", "-n", "team-b", "managedclustersetbinding", "edge")
		settle("--no-install")
		if happened := changesOf(before, decisions(t, h)); !slices.Equal(told, happened) {
			t.Errorf("told:\n%shappened:\n%s", strings.Join(told, ""), strings.Join(happened, ""))
		}
	})

	t.Run("then it makes no difference", func(t *testing.T) {
		p := whatIf("--drain", "eu2", "--exit-code")
		p.WantExit(t, 0)
		if !strings.Contains(p.Stdout.String(), "no placement gains or loses a cluster") {
			t.Errorf("the summary is another; %s", p)
		}
	})

	t.Run("rights in one namespace are enough for that one", func(t *testing.T) {
		tenant := readerKubeconfig(t, h, "tenant", clusterv1.GroupName, olderGroup)
		p := suite.Run(t, "simulate", "--kubeconfig", tenant, "--drain", "eu1", "--exit-code")
		p.WantExit(t, 2)
		p.WantStderr(t, "does not allow", "placements.cluster", "managedclustersetbindings.cluster", "--namespace says which one")
		p = suite.Run(t, "simulate", "--kubeconfig", tenant, "-n", "team-a", "--drain", "eu1")
		p.WantExit(t, 0)
		if !strings.Contains(p.Stdout.String(), "  - eu1  taint drain:NoSelect not tolerated") || strings.Contains(p.Stdout.String(), "team-b/") {
			t.Errorf("another answer than that of one namespace; %s", p)
		}
	})
}

// auditor is the kubeconfig of an account that may read what decides placements anywhere, and no more.
func auditor(t *testing.T, h *suite.Hub, name string) string {
	t.Helper()
	h.Token(t, name)
	for _, object := range []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{clusterv1.GroupName, olderGroup}, Verbs: []string{"list"},
			Resources: []string{
				"managedclusters", "managedclustersets", "managedclustersetbindings", "addonplacementscores", "placements", "placementdecisions",
			},
		}}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: name}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		},
	} {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	h.AwaitRoles(t)
	config, err := h.Environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, name)
	suite.Must(t, err)
	return suite.WriteKubeconfig(t, config)
}
