// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// documents returns a file of objects that have a kind and a name alone: "v1 Event" and so on.
func documents(kinds ...string) []byte {
	var text strings.Builder
	for i, kind := range kinds {
		version, name, _ := strings.Cut(kind, " ")
		fmt.Fprintf(&text, "---\napiVersion: %s\nkind: %s\nmetadata: {name: n%d}\n", version, name, i)
	}
	return []byte(text.String())
}

// Kinds that are in the files of people beside Placements, and which others read.
func TestKindsOfOthersAreSkipped(t *testing.T) {
	for _, tc := range []struct {
		reason string
		kinds  []string
		want   string
	}{
		{
			"governance policies", []string{
				"policy.open-cluster-management.io/v1 Policy", "policy.open-cluster-management.io/v1 PlacementBinding",
				"policy.open-cluster-management.io/v1 Policy", "policy.open-cluster-management.io/v1beta1 PolicySet",
			}, "skipped 2 Policy, 1 PlacementBinding, 1 PolicySet",
		},
		{
			"Argo CD", []string{
				"argoproj.io/v1alpha1 ApplicationSet", "argoproj.io/v1alpha1 AppProject", "apps.open-cluster-management.io/v1beta1 GitOpsCluster",
			}, "skipped 1 AppProject, 1 ApplicationSet, 1 GitOpsCluster",
		},
		{
			"applications and add-ons of Open Cluster Management", []string{
				"apps.open-cluster-management.io/v1 Subscription", "apps.open-cluster-management.io/v1 PlacementRule",
				"addon.open-cluster-management.io/v1alpha1 ManagedClusterAddOn", "agent.open-cluster-management.io/v1 KlusterletAddonConfig",
			}, "skipped 1 KlusterletAddonConfig, 1 ManagedClusterAddOn, 1 PlacementRule, 1 Subscription",
		},
		{
			"kinds of groups of the hub that others read", []string{
				"cluster.open-cluster-management.io/v1alpha1 ClusterClaim", "cluster.open-cluster-management.io/v1beta1 BackupSchedule",
				"cluster.open-cluster-management.io/v1beta1 ClusterCurator", "work.open-cluster-management.io/v1alpha1 ManifestWorkReplicaSet",
				"work.open-cluster-management.io/v1 AppliedManifestWork",
			}, "skipped 1 AppliedManifestWork, 1 BackupSchedule, 1 ClusterClaim, 1 ClusterCurator, 1 ManifestWorkReplicaSet",
		},
		{
			"Kubernetes", []string{
				"v1 PersistentVolumeClaim", "v1 Event", "v1 Endpoints", "v1 ResourceQuota", "v1 LimitRange", "networking.k8s.io/v1 NetworkPolicy",
				"networking.k8s.io/v1 IngressClass", "autoscaling/v2 HorizontalPodAutoscaler", "policy/v1 PodDisruptionBudget",
				"apps/v1 ControllerRevision", "authorization.k8s.io/v1 SubjectAccessReview",
			}, "skipped 1 ControllerRevision, 1 Endpoints, 1 Event, 1 HorizontalPodAutoscaler, 1 IngressClass, 1 LimitRange, 1 NetworkPolicy, " +
				"1 PersistentVolumeClaim, 1 PodDisruptionBudget, 1 ResourceQuota, 1 SubjectAccessReview",
		},
		{
			"groups with a similar name", []string{
				"networking.gke.io/v1 ManagedCertificate", "networking.x-k8s.io/v1 Gateway", "source.toolkit.fluxcd.io/v1 GitRepository",
				"helm.toolkit.fluxcd.io/v2 HelmChart", "batch.x-k8s.io/v1 JobSet",
			}, "skipped 1 Gateway, 1 GitRepository, 1 HelmChart, 1 JobSet, 1 ManagedCertificate",
		},
		{
			"names of the hub's kinds, of other groups", []string{
				"scheduling.kcp.io/v1alpha1 Placement", "cluster.x-k8s.io/v1beta1 Cluster", "kyverno.io/v1 ClusterPolicy",
			}, "skipped 1 Cluster.cluster.x-k8s.io, 1 ClusterPolicy, 1 Placement.scheduling.kcp.io",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			reader := newReader(t)
			reader.Read("world.yaml", documents(tc.kinds...))
			if _, err := reader.State(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]string{tc.want}, reader.Notes()); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}

			changes := readChanges(t, Namespace{Name: "ns"}, string(documents(tc.kinds...)))
			if _, err := changes.State(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]string{tc.want}, changes.Notes()); diff != "" {
				t.Errorf("notes of changes (-want +got):\n%s", diff)
			}

			strict := newReader(t)
			strict.Strict(true)
			strict.Read("world.yaml", documents(tc.kinds...))
			if got := len(strict.problems); got != len(tc.kinds) {
				t.Errorf("strictly %d of %d are mistakes: %v", got, len(tc.kinds), strict.problems)
			}
		})
	}
}

// A kind, group or version that is misspelt is a mistake, which names the nearest first.
func TestMisspeltKinds(t *testing.T) {
	reader, changes := newReader(t), readChanges(t, Namespace{}, placementHead+"metadata: {}\n")
	reader.Read("placement.yaml", []byte(placementHead+"metadata: {}\n"))
	for kind, want := range map[string]string{
		"cluster.open-cluster-management.io/v1alpha1 AddonPlacementScore": "kind: AddonPlacementScore of " +
			"cluster.open-cluster-management.io/v1alpha1 is not known here; " +
			"did you mean AddOnPlacementScore of cluster.open-cluster-management.io/v1alpha1?",
		"cluster.open-cluster-management.io/v1 MangedCluster": "kind: MangedCluster of cluster.open-cluster-management.io/v1 is not known here; " +
			"did you mean ManagedCluster of cluster.open-cluster-management.io/v1?",
		"cluster.open-cluster-management.io/v1beta1 Placements": "did you mean Placement of cluster.open-cluster-management.io/v1beta1?",
		"cluster.open-cluster-management.io/v1beta2 ClusterSet": "did you mean ManagedClusterSet of cluster.open-cluster-management.io/v1beta2",
		"cluster.open-cluster-management.io/v1beta2 SetBinding": "did you mean ManagedClusterSetBinding of ",
		"work.open-cluster-management.io/v1 Manifestwork":       "did you mean ManifestWork of work.open-cluster-management.io/v1?",
		"apps/v1 Deploymnet": "did you mean Deployment of apps/v1?",
		"cluster.open-cluster-management.io/v1beta1 ManagedClusterSet": "apiVersion: ManagedClusterSet of " +
			"cluster.open-cluster-management.io/v1beta1 is not known here; it is served as cluster.open-cluster-management.io/v1beta2",
		"cluster.open-cluster-management.io/v1 Placement": "it is served as cluster.open-cluster-management.io/v1beta1",
		"apps/v1beta1 Deployment":                         "it is served as apps/v1",
		"cluster.open-cluster-managment.io/v1 ManagedCluster": "apiVersion: ManagedCluster of " +
			"cluster.open-cluster-managment.io/v1 is not known here; did you mean ManagedCluster of cluster.open-cluster-management.io/v1?",
		"clusters.open-cluster-management.io/v1beta1 Placement": "did you mean Placement of cluster.open-cluster-management.io/v1beta1?",
		"clusters.openmcp.cloud/v1alpha1 ClusterRequest": "apiVersion: ClusterRequest of clusters.openmcp.cloud/v1alpha1 is not known here; " +
			"did you mean ClusterRequest of cluster.openmcp.cloud/v1alpha1? docs/openmcp.md compares the two APIs",
		"clusters.openmcp.cloud/v1alpha1 AccessRequest": "docs/openmcp.md",
		"apps.cozystak.io/v1alpha1 Redis":               "did you mean Redis of apps.cozystack.io?",
		"helm.toolkit.fluxcd.oi/v2 HelmRelease":         "did you mean HelmRelease of helm.toolkit.fluxcd.io?",
		"v1 Placement": "did you mean Placement of cluster.open-cluster-management.io/v1beta1 or " +
			"Placement of placement.open-cluster-management.io/v1alpha1?",
		"v1beta1 Placement": "did you mean Placement of cluster.open-cluster-management.io/v1beta1 or ",
		"v1 Deployment":     "did you mean Deployment of apps/v1?",
	} {
		text := documents(kind)
		reader.Read(kind, text)
		changes.Read(kind, text)
		for _, problems := range [][]Problem{reader.problems, changes.reader.problems} {
			if got := problems[len(problems)-1]; got.File != kind || !strings.Contains(got.Message, want) || len(got.Message) > 400 {
				t.Errorf("%s: the problem is %v, want %q", kind, got, want)
			}
		}
	}
}

// What a command does not take of the kinds of Kubernetes is left out; what it does not take of the hub's own would change the result.
func TestKindsThatACommandDoesNotTake(t *testing.T) {
	const beside = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: ns}\n"
	placement := placementHead + "metadata: {name: a, namespace: ns}\nspec: {}\n---\n"
	changes := readChanges(t, Namespace{}, placement+beside)
	if _, err := changes.State(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"skipped 1 ServiceAccount"}, changes.Notes()); diff != "" {
		t.Errorf("notes of changes (-want +got):\n%s", diff)
	}

	reader := newReader(t)
	reader.Read("added.yaml", []byte(addedCluster+"---\n"+beside))
	if _, err := reader.Additions(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"skipped 1 ServiceAccount"}, reader.Notes()); diff != "" {
		t.Errorf("notes of additions (-want +got):\n%s", diff)
	}

	reader = newReader(t)
	reader.Strict(true)
	reader.Read("added.yaml", []byte(addedCluster+"---\n"+beside))
	if _, err := reader.Additions(); err == nil || !strings.Contains(err.Error(), "ServiceAccount ns/a cannot be added") {
		t.Errorf("strictly the error is %v", err)
	}
}
