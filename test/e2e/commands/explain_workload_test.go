// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const (
	olderWorkload = `apiVersion: v1
kind: Namespace
metadata: {name: team-a, labels: {team: a}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: web}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {pool: db}}
`
	newerPolicy = `apiVersion: kupid.gardener.cloud/v1alpha1
kind: ClusterPodSchedulingPolicy
metadata: {name: web}
spec:
  namespaceSelector: {matchLabels: {team: a}}
  podSelector: {matchLabels: {app: web}}
  nodeSelector: {pool: web}
  tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}]
`
	newWorkload = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: team-a}
spec:
  serviceName: db
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {nodeSelector: {pool: db}, containers: [{name: db, image: postgres}]}
`
	// workloadReader may read what decides where Pods may run, and nothing of Placements.
	workloadReader = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: workload-reader}
rules:
- {apiGroups: ["", apps, batch], verbs: [get, list], resources: [
    pods, replicationcontrollers, replicasets, deployments, statefulsets, daemonsets, jobs, cronjobs, namespaces, nodes]}
- {apiGroups: [kupid.gardener.cloud, cozystack.io, apps.cozystack.io], verbs: [list], resources: [
    podschedulingpolicies, clusterpodschedulingpolicies, affinityclasses, tenants]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: workload-reader}
subjects: [{kind: ServiceAccount, namespace: default, name: workload-reader}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: workload-reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: owner, namespace: team-a}
rules:
- {apiGroups: [apps], verbs: [get], resources: [deployments]}
- {apiGroups: [kupid.gardener.cloud], verbs: [list], resources: [podschedulingpolicies]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: owner, namespace: team-a}
subjects: [{kind: ServiceAccount, namespace: default, name: owner}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: owner}
`
)

// TestExplainWorkloads is one story on a cluster that has no Placements, and at first no policies.
func TestExplainWorkloads(t *testing.T) {
	environment, err := localplane.Start(t.Context(), localplane.Options{ControllerManager: true, AuditLog: true})
	suite.Must(t, err)
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	h := &suite.Hub{Story: t, Environment: environment, AdminKubeconfig: suite.WriteKubeconfig(t, environment.AdminConfig())}
	h.Client, err = client.New(environment.AdminConfig(), client.Options{Scheme: system.Scheme()})
	suite.Must(t, err)
	directory := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(directory, name)
		suite.Must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	suite.Kubectl(t, h.AdminKubeconfig, "apply", "-f", file("workload.yaml", olderWorkload), "-f", file("rights.yaml", workloadReader))
	h.AwaitRoles(t)
	reader, owner := bound(t, h, "workload-reader"), bound(t, h, "owner")
	policy, workload := file("policy.yaml", newerPolicy), file("new.yaml", newWorkload)

	t.Run("a cluster without policies and classes says so", func(t *testing.T) {
		p := suite.Run(t, "explain", "deployment/web", "-n", "team-a", "--kubeconfig", reader)
		p.WantExit(t, 0)
		p.WantStdout(t, "Deployment team-a/web: no policy matches, 0 of 2 nodes fit",
			"PodSchedulingPolicies are not installed on this cluster (the component deploy/components/podscheduling installs them)",
			"AffinityClasses are not installed on this cluster (the component deploy/components/affinityclass installs them)",
			"2 node(s) had untolerated taint(s)")
	})

	installDefinitions(t, h)
	suite.Kubectl(t, h.AdminKubeconfig, "apply", "-f", policy)
	before := suite.KubectlOutput(t, h.AdminKubeconfig, "get", "clusterpodschedulingpolicy/web", "deployment/web", "-n", "team-a",
		"-o", "jsonpath={.items[*].metadata.resourceVersion}")

	t.Run("K38: explain and diff name a Deployment that is older than the policy as drifted", func(t *testing.T) {
		p := suite.Run(t, "explain", "deploy", "web", "-n", "team-a", "--kubeconfig", reader)
		p.WantExit(t, 0)
		p.WantStdout(t, "MutatingWebhookConfiguration open-cluster-management-placement-hub-podscheduling may not be read by this user",
			"Deployment team-a/web: drifted", "lacks nodeSelector[pool], tolerations: it was admitted before the policy")
		p = suite.Run(t, "diff", "-f", policy, "--kubeconfig", reader)
		p.WantExit(t, 1)
		p.WantStdout(t, "ClusterPodSchedulingPolicy web: unchanged\n",
			"Deployment team-a/web: the next update adds nodeSelector[pool], tolerations (due anyway)\n",
			"--- LIVE/apps.v1.Deployment.team-a.web\n+++ MERGED/apps.v1.Deployment.team-a.web\n", "+        pool: web\n")
		after := suite.KubectlOutput(t, h.AdminKubeconfig, "get", "clusterpodschedulingpolicy/web", "deployment/web", "-n", "team-a",
			"-o", "jsonpath={.items[*].metadata.resourceVersion}")
		if before != after {
			t.Errorf("resourceVersions were %s, and are %s", before, after)
		}
		wantOnlyReads(t, h, "system:serviceaccount:default:workload-reader")
	})

	t.Run("diff says what another policy would change, and which nodes remain", func(t *testing.T) {
		changed := file("changed.yaml", strings.Replace(newerPolicy, "{pool: web}", "{pool: db}", 1))
		p := suite.Run(t, "diff", "-f", changed, "--kubeconfig", reader, "-o", "name")
		p.WantExit(t, 1)
		p.WantStdout(t, "team-a/web@deployment ~nodeSelector[pool]\n", "team-a/web@deployment +n2\n", "team-a/web@deployment -n1\n")
		p = suite.Run(t, "diff", "-f", file("bad.yaml", strings.Replace(newerPolicy, "{pool: web}", "{pool: 'no value'}", 1)), "--kubeconfig", reader)
		p.WantExit(t, 2)
		p.WantStderr(t, "ClusterPodSchedulingPolicy web would be refused, and is not in the comparison: spec.nodeSelector")
	})

	t.Run("simulate places a new workload among the objects of the cluster", func(t *testing.T) {
		p := suite.Run(t, "simulate", "--add", "-f", workload, "--kubeconfig", reader)
		p.WantExit(t, 0)
		p.WantStdout(t, "what if: add StatefulSet team-a/db\n", "StatefulSet team-a/db: 1 policy matches, 1 of 2 nodes fit",
			`skips    Conflict: nodeSelector[pool]: "db" is kept, not "web"`)
	})

	t.Run("who may read less is told what is missing", func(t *testing.T) {
		p := suite.Run(t, "explain", "deployment/web", "-n", "team-a", "--kubeconfig", owner)
		p.WantExit(t, 1)
		p.WantStdout(t, "Deployment team-a/web: no policy matches", "ClusterPodSchedulingPolicies may not be read by this user",
			"Nodes may not be read by this user; the report does not say which nodes fit")
		p.WantStderr(t, "does not allow this user", "clusterpodschedulingpolicies.kupid.gardener.cloud", ", nodes", "ask an administrator")
	})

	t.Run("issue 26, P6: diff reads of a Namespace what kubectl apply makes of it", func(t *testing.T) {
		namespace := file("namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n")
		p := suite.Run(t, "diff", "-f", namespace, "--kubeconfig", reader)
		p.WantExit(t, 1)
		p.WantStdout(t, "Namespace team-a: changed\n", "  no policy adds nodeSelector[pool], tolerations any more\n")
		suite.Kubectl(t, h.AdminKubeconfig, "apply", "-f", namespace)
		p = suite.Run(t, "explain", "deployment/web", "-n", "team-a", "--kubeconfig", reader)
		p.WantExit(t, 0)
		p.WantStdout(t, "Deployment team-a/web: no policy matches")
		p = suite.Run(t, "diff", "-f", namespace, "--kubeconfig", reader)
		p.WantExit(t, 0)
	})

	t.Run("names are completed, and wrong ones pointed out", func(t *testing.T) {
		suite.Run(t, "__complete", "explain", "--kubeconfig", reader, "-n", "team-a", "deployment/w").WantStdout(t, "deployment/web\n")
		suite.Run(t, "__complete", "explain", "--kubeconfig", reader, "-n", "team-a", "deplo").WantStdout(t, "deployment/\n")
		p := suite.Run(t, "explain", "sts/web", "-n", "team-a", "--kubeconfig", reader)
		p.WantExit(t, 1)
		p.WantStderr(t, "there is no StatefulSet team-a/web; correct the name or the namespace")
	})
}

// installDefinitions applies the CustomResourceDefinitions of policies and classes, and waits until they are served.
func installDefinitions(t *testing.T, h *suite.Hub) {
	t.Helper()
	var definitions []*unstructured.Unstructured
	for _, system := range []string{"podscheduling", "affinityclass"} {
		objects, err := manifests.System(system, "")
		suite.Must(t, err)
		definitions = append(definitions, slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
			return object.GetKind() != "CustomResourceDefinition"
		})...)
	}
	suite.Must(t, manifests.Apply(t.Context(), h.Environment.AdminConfig(), definitions))
}

// bound is the kubeconfig of an account whose rights are bound elsewhere.
func bound(t *testing.T, h *suite.Hub, name string) string {
	t.Helper()
	h.Token(t, name)
	config, err := h.Environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, name)
	suite.Must(t, err)
	return suite.WriteKubeconfig(t, config)
}
