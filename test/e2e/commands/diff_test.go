// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// apart is a placement of the older API, and changedApart a change of it.
const (
	apart = `---
apiVersion: placement.open-cluster-management.io/v1alpha1
kind: Placement
metadata: {name: apart, namespace: team-a}
spec:
  predicates: [{clusterName: ap1}, {clusterName: eu1}, {clusterName: eu2}]
`
	changedApart = apart + "  antiAffinity: {topologyKey: region, topologyKeyType: Label}\n"
	olderGroup   = "placement.open-cluster-management.io"
)

// The files change samples. The first names no namespace; the groups of the second are a part of those of the sample.
const (
	changedPayments = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: payments}
spec:
  predicates:
  - requiredClusterSelector: {labelSelector: {matchLabels: {env: prod, region: us-east}}}
`
	changedRollout = `---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: rollout, namespace: team-a}
spec:
  predicates:
  - requiredClusterSelector: {labelSelector: {matchExpressions: [{key: region, operator: NotIn, values: [ap-south]}]}}
  decisionStrategy:
    groupStrategy:
      decisionGroups:
      - groupName: canary
        groupClusterSelector: {labelSelector: {matchLabels: {env: staging}}}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: fresh, namespace: team-a}
spec: {numberOfClusters: 1, clusterSets: [prod], predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: eu-north}}}}]}
`
)

// unreadNamespaces is the note for a user who may neither write Placements nor get Namespaces.
const unreadNamespaces = "not evaluated, because Namespaces may not be read: admission policies: " +
	"open-cluster-management-placement-hub-placements, open-cluster-management-placement-hub-vocabulary\n"

// TestDiffReportsWhatApplyingDoes is one story on one control plane: each step starts with the hub as the last one left it.
func TestDiffReportsWhatApplyingDoes(t *testing.T) {
	h := suite.StartHub(t)
	directory := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(directory, name)
		suite.Must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	settle := func(args ...string) {
		suite.Run(t, append([]string{"run", "--kubeconfig", h.AdminKubeconfig, "--once"}, args...)...).WantExit(t, 0)
	}
	settle("--samples")
	suite.Kubectl(t, h.AdminKubeconfig, "apply", "-f", file("apart.yaml", apart))
	settle("--no-install")

	newer, older := file("newer.yaml", changedPayments+changedRollout), file("older.yaml", changedApart)
	changes := file("changes.yaml", changedPayments+changedRollout+changedApart)
	reader := readerKubeconfig(t, h, "diff-reader", clusterv1.GroupName, olderGroup)
	// The samples are applied by the hub, and the changes below by kubectl without --server-side.
	diff := func(args ...string) *suite.Program {
		return suite.Run(t, append([]string{"diff", "--kubeconfig", reader, "-n", "team-a", "--server-side=false"}, args...)...)
	}

	var told []string
	t.Run("a user who may only read is told the difference", func(t *testing.T) {
		before := decisions(t, h)
		p := diff("-f", changes, "-o", "name")
		p.WantExit(t, 1)
		if p.Stderr.String() != unreadNamespaces {
			t.Errorf("a difference is no error; %s", p)
		}
		// Nothing here has the same name in both APIs.
		told = slices.Sorted(strings.Lines(strings.ReplaceAll(p.Stdout.String(), "@"+olderGroup, "")))
		if len(told) == 0 {
			t.Fatalf("nothing was told; %s", p)
		}
		table := diff("-f", changes)
		for _, part := range []string{
			"team-a/fresh (new): 1 gained", "\n  - eu1", "~ stage-us1", "group 1 staging -> group 0 canary",
			"team-a/apart (" + olderGroup + "): 0 gained, 1 lost, 2 kept\n  - eu",
		} {
			if !strings.Contains(table.Stdout.String(), part) {
				t.Errorf("the table lacks %q; %s", part, table)
			}
		}
		// Which of the two Balance prefers is a matter of the other placements.
		if !regexp.MustCompile(` {2}- (eu1 .* is taken by eu2|eu2 .* is taken by eu1)`).MatchString(table.Stdout.String()) {
			t.Errorf("the table does not say whose place it is; %s", table)
		}
		wantOnlyReads(t, h, "system:serviceaccount:default:diff-reader")
		if after := decisions(t, h); !slices.Equal(before, after) {
			t.Errorf("decisions were %q and are %q", before, after)
		}
		p.WantNothingLeft(t)
	})

	t.Run("files say the same as the hub they were taken from", func(t *testing.T) {
		p := diff("-f", changes, "-o", "name")
		world := suite.KubectlOutput(t, h.AdminKubeconfig, "get", "-A", "--show-managed-fields", "-o", "yaml",
			"managedclusters,managedclustersets,managedclustersetbindings,addonplacementscores,placements,placementdecisions,"+
				"placements."+olderGroup+",placementdecisions."+olderGroup)
		fromFiles := suite.Run(t, "diff", "-n", "team-a", "--server-side=false", "-f", changes, "--hub", file("hub.yaml", world), "-o", "name")
		fromFiles.WantExit(t, 1)
		if fromFiles.Stdout.String() != p.Stdout.String() {
			t.Errorf("from files:\n%s\nfrom the hub:\n%s", fromFiles, p)
		}
	})

	t.Run("applying yields exactly that", func(t *testing.T) {
		before := decisions(t, h)
		suite.Kubectl(t, h.AdminKubeconfig, "apply", "-n", "team-a", "-f", file("payments.yaml", changedPayments))
		suite.Kubectl(t, h.AdminKubeconfig, "apply", "-f", file("rollout.yaml", changedRollout), "-f", older)
		settle("--no-install")
		if happened := changesOf(before, decisions(t, h)); !slices.Equal(told, happened) {
			t.Errorf("told:\n%shappened:\n%s", strings.Join(told, ""), strings.Join(happened, ""))
		}
	})

	t.Run("then there is no difference", func(t *testing.T) {
		p := diff("-f", changes)
		p.WantExit(t, 0)
		if got := strings.Count(p.Stdout.String(), "no difference"); got != 4 || p.Stderr.String() != unreadNamespaces {
			t.Errorf("%d of 4 placements have no difference; %s", got, p)
		}
	})

	t.Run("a mistake is an error, and the last decisions would stay", func(t *testing.T) {
		p := diff("-f", file("typo.yaml", strings.Replace(changedPayments, "spec:", "spec:\n  prioritizerPolicy: {mode: Sometimes}", 1)))
		p.WantExit(t, 2)
		p.WantStderr(t, "no answer for Placement team-a/payments, which would keep its last decisions", "spec.prioritizerPolicy.mode")
	})

	t.Run("a user without rights is told what is missing", func(t *testing.T) {
		h.Token(t, "stranger")
		account, err := h.Environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, "stranger")
		suite.Must(t, err)
		p := suite.Run(t, "diff", "--kubeconfig", suite.WriteKubeconfig(t, account), "-n", "team-a", "-f", changes)
		p.WantExit(t, 2)
		p.WantStderr(t, "does not allow", "managedclusters.cluster", "managedclustersets.cluster", "managedclustersetbindings.cluster",
			"addonplacementscores.cluster", "placements.cluster", "placementdecisions.cluster", "placements."+olderGroup,
			"placementdecisions."+olderGroup, "ask an administrator",
			`placements.cluster.open-cluster-management.io in the namespace "team-a"`)
	})

	t.Run("a user of one API is told what is not counted, and cannot compare the other", func(t *testing.T) {
		newerOnly := readerKubeconfig(t, h, "newer-reader", clusterv1.GroupName)
		p := suite.Run(t, "diff", "--kubeconfig", newerOnly, "-n", "team-a", "-f", newer)
		p.WantExit(t, 0)
		if note := "Balance cannot count the placementdecisions." + olderGroup; strings.Count(p.Stdout.String(), note) != 3 {
			t.Errorf("not every placement has the note %q; %s", note, p)
		}
		p = suite.Run(t, "diff", "--kubeconfig", newerOnly, "-n", "team-a", "-f", older)
		p.WantExit(t, 2)
		p.WantStderr(t, "does not allow", "placements."+olderGroup, "placementdecisions."+olderGroup)
	})

	t.Run("a what-if of the hub comes true", func(t *testing.T) { wantWhatIf(t, h, settle, file) })

	t.Run("a hub with one API compares that one", func(t *testing.T) {
		suite.Kubectl(t, h.AdminKubeconfig, "delete", "customresourcedefinition", "placements."+olderGroup, "placementdecisions."+olderGroup)
		suite.Eventually(t, "waiting until the older API is not served", func() error {
			p := diff("-f", older)
			if p.ExitCode(t) != 2 || !strings.Contains(p.Stderr.String(), "does not serve Placements."+olderGroup) {
				return errors.New(p.String())
			}
			return nil
		})
		p := diff("-f", newer)
		p.WantExit(t, 0)
		if p.Stderr.String() != unreadNamespaces || strings.Contains(p.Stdout.String(), "cannot count") {
			t.Errorf("nothing is missing; %s", p)
		}
	})
}

// readerKubeconfig is the kubeconfig of an account that may do what diff asks for, and no more, for placements of some API groups.
func readerKubeconfig(t *testing.T, h *suite.Hub, name string, groups ...string) string {
	t.Helper()
	h.Token(t, name)
	account := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: name}}
	rule := func(resources ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: groups, Resources: resources, Verbs: []string{"list"}}}
	}
	for _, object := range []client.Object{
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Rules:      rule("managedclusters", "managedclustersets", "addonplacementscores", "placementdecisions"),
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: account,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		},
		&rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Rules: rule("placements", "managedclustersetbindings"),
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Subjects: account,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		},
	} {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	h.AwaitRoles(t)
	config, err := h.Environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, name)
	suite.Must(t, err)
	return suite.WriteKubeconfig(t, config)
}

// wantOnlyReads fails for every request of a user that was not get or list, and when there was none at all.
func wantOnlyReads(t *testing.T, h *suite.Hub, user string) {
	t.Helper()
	h.AwaitAudit(t)
	events, err := h.Environment.Audit()
	suite.Must(t, err)
	lists := 0
	for _, event := range events {
		switch {
		case event.User.Username != user:
		case event.Verb == "list":
			lists++
		case event.Verb != "get":
			t.Errorf("a request was %s %s", event.Verb, event.RequestURI)
		}
	}
	if lists == 0 {
		t.Errorf("the audit log knows no list of %s, so it would not show a write either", user)
	}
}

// decisions are lines "namespace/name cluster group" of all decisions, sorted.
func decisions(t *testing.T, h *suite.Hub) []string {
	t.Helper()
	var (
		newer clusterv1beta1.PlacementDecisionList
		older placementv1alpha1.PlacementDecisionList
	)
	suite.Must(t, h.Client.List(t.Context(), &newer))
	suite.Must(t, h.Client.List(t.Context(), &older))
	var lines []string
	for _, page := range newer.Items {
		placement := types.NamespacedName{Namespace: page.Namespace, Name: page.Labels[clusterv1beta1.PlacementLabel]}
		group := page.Labels[clusterv1beta1.DecisionGroupIndexLabel] + page.Labels[clusterv1beta1.DecisionGroupNameLabel]
		for _, decision := range page.Status.Decisions {
			lines = append(lines, placement.String()+" "+decision.ClusterName+" "+group)
		}
	}
	for _, page := range older.Items {
		placement := types.NamespacedName{Namespace: page.Namespace, Name: page.Labels[placementv1alpha1.PlacementLabel]}
		for _, decision := range page.Decisions {
			lines = append(lines, placement.String()+" "+decision.ClusterName+" ")
		}
	}
	slices.Sort(lines)
	return lines
}

// changesOf is what diff -o name would have to say of the way from one state of the decisions to another, sorted.
func changesOf(before, after []string) []string {
	groups := func(lines []string) map[string]string {
		groups := map[string]string{}
		for _, line := range lines {
			fields := strings.SplitN(line, " ", 3)
			groups[fields[0]+" "+fields[1]] = fields[2]
		}
		return groups
	}
	old, present := groups(before), groups(after)
	var changes []string
	add := func(mark, key string) { changes = append(changes, strings.Replace(key, " ", " "+mark, 1)+"\n") }
	for key, group := range present {
		was, had := old[key]
		switch {
		case !had:
			add("+", key)
		case was != group:
			add("~", key)
		}
	}
	for key := range old {
		if _, has := present[key]; !has {
			add("-", key)
		}
	}
	slices.Sort(changes)
	return changes
}
