package e2e

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

	"github.com/placement-hub/placement-hub/test/env/faults"
)

// TestExplainOnAHub is one story on one control plane whose decisions nobody writes any more once they have settled.
func TestExplainOnAHub(t *testing.T) {
	h := startHub(t)
	run(t, "run", "--kubeconfig", h.adminKubeconfig, "--once", "--samples").wantExit(t, 0)
	follower := h.withRights(t, "follower", "list", "watch")

	t.Run("a user who may only read is told why", func(t *testing.T) {
		reader := h.reader(t, "explain-reader", clusterv1.GroupName, olderGroup)
		p := run(t, "explain", "--kubeconfig", reader, "-n", "team-a", "standby", "--cluster", "eu1")
		p.wantExit(t, 0)
		p.wantStdout(t, "team-a/standby: 1 of 2 wanted selected", "eu1: Predicate, predicate 1 label region In [ap-south]: is eu-west",
			"would be selected if label region were ap-south")
		run(t, "explain", "--kubeconfig", reader, "-n", "team-a", "placement/ledger", "-o", "name").
			wantStdout(t, "team-a/ledger@"+olderGroup+" ")
		run(t, "explain", "--kubeconfig", reader, "--all", "-n", "team-a").wantStdout(t, "2 of 5 placements unsatisfied", "team-a/standby  ")
		h.wantOnlyReads(t, "system:serviceaccount:default:explain-reader")
	})

	t.Run("a placement of another namespace is pointed out to whom may know", func(t *testing.T) {
		p := run(t, "explain", "--kubeconfig", follower, "team-b/standby")
		p.wantExit(t, 1)
		p.wantStderr(t, "there is no Placement team-b/standby; there is team-a/standby")
	})

	t.Run("a tenant is told what is written, and which right is missing", func(t *testing.T) {
		tenant := h.tenant(t)
		p := run(t, "explain", "--kubeconfig", tenant, "team-a/standby")
		p.wantExit(t, 1)
		p.wantStdout(t, "team-a/standby: no explanation", "the decisions have 1 cluster", "PlacementSatisfied=False (NotAllDecisionsScheduled)")
		p.wantStderr(t, "does not allow", "managedclusters.cluster", "ask an administrator")
		p = run(t, "explain", "--kubeconfig", tenant, "--all", "-n", "team-a")
		p.wantExit(t, 1)
		p.wantStdout(t, "team-a/standby")
		p.wantStderr(t, "managedclusters.cluster")
		run(t, "explain", "--kubeconfig", tenant, "team-a/standby", "--watch").wantExit(t, 1)
		p = run(t, "explain", "--kubeconfig", tenant, "team-b/typo")
		p.wantExit(t, 1)
		p.wantStderr(t, "placements.cluster", `in the namespace "team-b"`)
	})

	t.Run("who may not watch is told so", func(t *testing.T) {
		p := run(t, "explain", "--kubeconfig", h.withRights(t, "lister", "list"), "team-a/standby", "--watch")
		p.wantExit(t, 1)
		p.wantStderr(t, "does not allow this user to watch", "verbs list and watch")
	})

	t.Run("completion knows the hub", func(t *testing.T) {
		complete := func(args ...string) *program {
			return run(t, append([]string{"__complete", "explain", "--kubeconfig", follower}, args...)...)
		}
		complete("team-a/st").wantStdout(t, "team-a/standby\n")
		complete("-n", "team-a", "le").wantStdout(t, "ledger\n")
		complete("team-a/standby", "--cluster", "edge-a").wantStdout(t, "edge-ams\n")
	})

	t.Run("kubectl finds the plugin", func(t *testing.T) {
		directory := t.TempDir()
		must(t, os.Symlink(binary, filepath.Join(directory, "kubectl-placement")))
		t.Setenv("PATH", directory+string(os.PathListSeparator)+os.Getenv("PATH"))
		kubectl := exec.CommandContext(t.Context(), filepath.Join(assets, "kubectl"),
			"placement", "explain", "--kubeconfig", h.adminKubeconfig, "team-a/standby", "-o", "name")
		if out, err := kubectl.CombinedOutput(); err != nil || string(out) != "team-a/standby ap1\n" {
			t.Errorf("kubectl placement explain says %q: %v", out, err)
		}
	})

	t.Run("sets are listed for whom may bind them", func(t *testing.T) { checkSets(t, h) })

	t.Run("what changes is shown, over broken watches too, until Ctrl-C", func(t *testing.T) { checkExplainWatch(t, h, follower) })
}

// checkExplainWatch follows a placement while the world changes.
func checkExplainWatch(t *testing.T, h *hub, kubeconfig string) {
	t.Helper()
	account, err := h.environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, "follower")
	must(t, err)
	proxy, err := faults.Start(account)
	must(t, err)
	defer func() { must(t, proxy.Close()) }()

	p := start(t, "explain", "--kubeconfig", writeKubeconfig(t, proxy.Config()), "team-a/standby", "--watch")
	shows := func(count int, what string) {
		eventually(t, "waiting for "+what, func() error {
			if strings.Count(p.stdout.String(), what) < count {
				return errors.New(p.String())
			}
			return nil
		})
	}
	shows(1, "team-a/standby: 1 of 2 wanted selected")
	h.moveCluster(t, "eu1", "ap-south")
	shows(1, "decisions are behind: eu1 to be gained")
	shows(2, "--- 20")

	mend := proxy.Break(faults.Rule{
		Match: faults.Match{Verbs: []string{"watch"}, Resources: []string{"managedclusters"}}, Fault: faults.Reset,
	})
	h.moveCluster(t, "eu1", "eu-west")
	mend()
	shows(2, "team-a/standby: 1 of 2 wanted selected")

	kubectl(t, h.adminKubeconfig, "delete", "placement.cluster.open-cluster-management.io", "-n", "team-a", "standby")
	shows(1, "Placement team-a/standby is not there")
	p.signal(t, syscall.SIGINT)
	p.wantExit(t, 0)
	if p.stderr.String() != "" {
		t.Errorf("nothing went wrong; %s", p)
	}

	all := start(t, "explain", "--kubeconfig", kubeconfig, "-A", "--watch")
	eventually(t, "the list of all", func() error {
		if !strings.Contains(all.stdout.String(), "team-b/typo") {
			return errors.New(all.String())
		}
		return nil
	})
	all.signal(t, syscall.SIGINT)
	all.wantExit(t, 0)
}

func (p *program) wantStdout(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(p.stdout.String(), part) {
			t.Errorf("%v: stdout does not contain %q; %s", p.cmd.Args, part, p)
		}
	}
}

// withRights is the kubeconfig of an account with some verbs on all that placements are decided by, anywhere.
func (h *hub) withRights(t *testing.T, name string, verbs ...string) string {
	t.Helper()
	kubeconfig := h.auditor(t, name)
	role := &rbacv1.ClusterRole{}
	must(t, h.client.Get(t.Context(), client.ObjectKey{Name: name}, role))
	role.Rules[0].Verbs = verbs
	role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list"}})
	must(t, h.client.Update(t.Context(), role))
	return kubeconfig
}

// tenant is the kubeconfig of an account that may read placements and their decisions in one namespace, and nothing of the fleet.
func (h *hub) tenant(t *testing.T) string {
	t.Helper()
	const name = "explain-tenant"
	h.token(t, name)
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
		must(t, h.client.Create(t.Context(), object))
	}
	account, err := h.environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, name)
	must(t, err)
	return writeKubeconfig(t, account)
}
