// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

// TestExplainOnAHub runs its steps on one control plane. The hub is stopped once the decisions have settled.
func TestExplainOnAHub(t *testing.T) {
	h := suite.StartHub(t)
	suite.Run(t, "run", "--kubeconfig", h.AdminKubeconfig, "--once", "--samples").WantExit(t, 0)
	follower := withRights(t, h, "follower", "list", "watch")
	t.Run("a user who may only read is told why", func(t *testing.T) {
		reader := readerKubeconfig(t, h, "explain-reader", clusterv1.GroupName, olderGroup)
		p := suite.Run(t, "explain", "--kubeconfig", reader, "-n", "team-a", "standby", "--cluster", "eu1")
		p.WantExit(t, 0)
		p.WantStdout(t, "team-a/standby: 1 of 2 wanted selected", "eu1: Predicate, predicate 1 label region In [ap-south]: is eu-west",
			"would be selected if label region were ap-south")
		suite.Run(t, "explain", "--kubeconfig", reader, "-n", "team-a", "placement/ledger", "-o", "name").
			WantStdout(t, "team-a/ledger@"+olderGroup+" ")
		suite.Run(t, "explain", "--kubeconfig", reader, "--all", "-n", "team-a").WantStdout(t, "2 of 5 placements unsatisfied", "team-a/standby  ")
		wantOnlyReads(t, h, "system:serviceaccount:default:explain-reader")
	})

	t.Run("a placement of another namespace is pointed out to whom may know", func(t *testing.T) {
		p := suite.Run(t, "explain", "--kubeconfig", follower, "team-b/standby")
		p.WantExit(t, 1)
		p.WantStderr(t, "there is no Placement team-b/standby; there is team-a/standby")
	})

	t.Run("a tenant is told what is written, and which right is missing", func(t *testing.T) {
		tenant := tenant(t, h)
		p := suite.Run(t, "explain", "--kubeconfig", tenant, "team-a/standby")
		p.WantExit(t, 1)
		p.WantStdout(t, "team-a/standby: no explanation", "the decisions have 1 cluster", "PlacementSatisfied=False (NotAllDecisionsScheduled)")
		p.WantStderr(t, "does not allow", "managedclusters.cluster", "ask an administrator")
		p = suite.Run(t, "explain", "--kubeconfig", tenant, "--all", "-n", "team-a")
		p.WantExit(t, 1)
		p.WantStdout(t, "team-a/standby")
		p.WantStderr(t, "managedclusters.cluster")
		suite.Run(t, "explain", "--kubeconfig", tenant, "team-a/standby", "--watch").WantExit(t, 1)
		p = suite.Run(t, "explain", "--kubeconfig", tenant, "team-b/typo")
		p.WantExit(t, 1)
		p.WantStderr(t, "placements.cluster", `in the namespace "team-b"`)
	})

	t.Run("a tenant with the shipped roles view and fleet-view may explain", func(t *testing.T) {
		viewer := withRoles(t, h, "explain-viewer", "open-cluster-management:placement-hub:view", "open-cluster-management:placement-hub:fleet-view")
		p := suite.Run(t, "explain", "--kubeconfig", viewer, "team-a/standby", "--cluster", "eu1")
		p.WantExit(t, 0)
		p.WantStdout(t, "team-a/standby: 1 of 2 wanted selected", "would be selected if label region were ap-south")
		suite.Run(t, "explain", "--kubeconfig", viewer, "--all", "-n", "team-a").WantExit(t, 0)
		suite.Run(t, "explain", "--kubeconfig", viewer, "team-b/typo").WantExit(t, 0)
		checkDeadHub(t, h, viewer)
		only := withRoles(t, h, "explain-tenant-only", "open-cluster-management:placement-hub:view")
		suite.Run(t, "explain", "--kubeconfig", only, "team-a/standby").
			WantStderr(t, "ask an administrator of the hub for the ClusterRole open-cluster-management:placement-hub:fleet-view")
	})

	t.Run("who may not watch is told so", func(t *testing.T) {
		p := suite.Run(t, "explain", "--kubeconfig", withRights(t, h, "lister", "list"), "team-a/standby", "--watch")
		p.WantExit(t, 1)
		p.WantStderr(t, "does not allow this user to watch", "verbs list and watch")
	})

	t.Run("completion knows the hub", func(t *testing.T) {
		complete := func(args ...string) *suite.Program {
			return suite.Run(t, append([]string{"__complete", "explain", "--kubeconfig", follower}, args...)...)
		}
		complete("team-a/st").WantStdout(t, "team-a/standby\n")
		complete("-n", "team-a", "le").WantStdout(t, "ledger\n")
		complete("team-a/standby", "--cluster", "edge-a").WantStdout(t, "edge-ams\n")
	})

	t.Run("kubectl finds the plugin", func(t *testing.T) {
		directory := t.TempDir()
		suite.Must(t, os.Symlink(suite.Binary, filepath.Join(directory, "kubectl-placement")))
		t.Setenv("PATH", directory+string(os.PathListSeparator)+os.Getenv("PATH"))
		kubectl := exec.CommandContext(t.Context(), filepath.Join(suite.Assets, "kubectl"),
			"placement", "explain", "--kubeconfig", h.AdminKubeconfig, "team-a/standby", "-o", "name")
		if out, err := kubectl.CombinedOutput(); err != nil || string(out) != "team-a/standby ap1\n" {
			t.Errorf("kubectl placement explain says %q: %v", out, err)
		}
	})

	t.Run("sets are listed for whom may bind them", func(t *testing.T) { checkSets(t, h) })

	t.Run("snapshots are read as the hub is", func(t *testing.T) { checkSnapshot(t, h) })

	t.Run("the hook of Argo CD tests cases", func(t *testing.T) { checkPreSync(t, h) })

	t.Run("what changes is shown, over broken watches too, until Ctrl-C", func(t *testing.T) { checkExplainWatch(t, h, follower) })
}

// checkExplainWatch follows a placement while the world changes.
func checkExplainWatch(t *testing.T, h *suite.Hub, kubeconfig string) {
	t.Helper()
	account, err := h.Environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, "follower")
	suite.Must(t, err)
	proxy, err := faults.Start(account)
	suite.Must(t, err)
	defer func() { suite.Must(t, proxy.Close()) }()

	p := suite.Start(t, "explain", "--kubeconfig", suite.WriteKubeconfig(t, proxy.Config()), "team-a/standby", "--watch")
	shows := func(count int, what string) {
		suite.Eventually(t, "waiting for "+what, func() error {
			if strings.Count(p.Stdout.String(), what) < count {
				return errors.New(p.String())
			}
			return nil
		})
	}
	shows(1, "team-a/standby: 1 of 2 wanted selected")
	h.MoveCluster(t, "eu1", "ap-south")
	shows(1, "decisions are behind: eu1 to be gained")
	shows(2, "--- 20")

	mend := proxy.Break(faults.Rule{
		Match: faults.Match{Verbs: []string{"watch"}, Resources: []string{"managedclusters"}}, Fault: faults.Reset,
	})
	h.MoveCluster(t, "eu1", "eu-west")
	mend()
	shows(2, "team-a/standby: 1 of 2 wanted selected")

	suite.Kubectl(t, h.AdminKubeconfig, "delete", "placement.cluster.open-cluster-management.io", "-n", "team-a", "standby")
	shows(1, "Placement team-a/standby is not there")
	p.Signal(t, syscall.SIGINT)
	p.WantExit(t, 0)
	if p.Stderr.String() != "" {
		t.Errorf("nothing went wrong; %s", p)
	}

	all := suite.Start(t, "explain", "--kubeconfig", kubeconfig, "-A", "--watch")
	suite.Eventually(t, "the list of all", func() error {
		if !strings.Contains(all.Stdout.String(), "team-b/typo") {
			return errors.New(all.String())
		}
		return nil
	})
	all.Signal(t, syscall.SIGINT)
	all.WantExit(t, 0)
}

// withRights is the kubeconfig of an account with some verbs on all that placements are decided by, anywhere.
func withRights(t *testing.T, h *suite.Hub, name string, verbs ...string) string {
	t.Helper()
	kubeconfig := auditor(t, h, name)
	role := &rbacv1.ClusterRole{}
	suite.Must(t, h.Client.Get(t.Context(), client.ObjectKey{Name: name}, role))
	role.Rules[0].Verbs = verbs
	role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list"}})
	suite.Must(t, h.Client.Update(t.Context(), role))
	h.AwaitRoles(t)
	return kubeconfig
}

// tenant is the kubeconfig of an account that may read placements and their decisions in one namespace, and nothing of the fleet.
func tenant(t *testing.T, h *suite.Hub) string {
	t.Helper()
	const name = "explain-tenant"
	h.Token(t, name)
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{clusterv1.GroupName}, Resources: []string{"placements", "placementdecisions"}, Verbs: []string{"get", "list"},
		}}},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: name}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		},
	} {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	h.AwaitRoles(t)
	account, err := h.Environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, name)
	suite.Must(t, err)
	return suite.WriteKubeconfig(t, account)
}

// withRoles is the kubeconfig of an account that has a ClusterRole in the namespace team-a, and others everywhere.
func withRoles(t *testing.T, h *suite.Hub, name, here string, everywhere ...string) string {
	t.Helper()
	h.Token(t, name)
	account := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: name}}
	role := func(name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	}
	suite.Must(t, h.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Subjects: account, RoleRef: role(here),
	}))
	for _, other := range everywhere {
		suite.Must(t, h.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}, Subjects: account, RoleRef: role(other),
		}))
	}
	h.AwaitRoles(t)
	config, err := h.Environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, name)
	suite.Must(t, err)
	return suite.WriteKubeconfig(t, config)
}
