// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

func TestManagedClusterName(t *testing.T) {
	name := func(namespace, name string) string {
		return ManagedClusterName(types.NamespacedName{Namespace: namespace, Name: name})
	}
	t.Run("cluster-request C64: one text for two Clusters", func(t *testing.T) {
		one, other := name("a", "b-c"), name("a-b", "c")
		if one == other || one[:len("a-b-c-")] != "a-b-c-" || other[:len("a-b-c-")] != "a-b-c-" {
			t.Errorf("%s, %s", one, other)
		}
		expectEqual(t, one, name("a", "b-c"), "name of the same Cluster")
	})
	for _, test := range []struct{ reason, namespace, name string }{
		{"cluster-request C64: a name of 100 characters", "team-a", strings.Repeat("n", 100)},
		{"cluster-request C64: a name with a dot", "team-a", "a.b.c"},
		{"cluster-request C64: a cut before a dash", "n", strings.Repeat("n", 53) + "-" + strings.Repeat("n", 53)},
		{"cluster-request 4.6: the longest names", strings.Repeat("n", 63), strings.Repeat("n", 253)},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := name(test.namespace, test.name)
			if problems := validation.IsDNS1123Label(got); len(problems) > 0 {
				t.Errorf("%s: %v", got, problems)
			}
			if problems := validation.IsValidLabelValue(got); len(problems) > 0 {
				t.Errorf("%s: %v", got, problems)
			}
		})
	}
}

func published() *openmcpv1alpha1.Cluster {
	return &openmcpv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "c", Labels: map[string]string{
			"placement.open-cluster-management.io/region": "eu", "other": "x",
		}},
		Spec: openmcpv1alpha1.ClusterSpec{
			ClusterProviderRef: openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"},
			Kubernetes:         &openmcpv1alpha1.Kubernetes{Version: "1.20.3"}, Tenancy: openmcpv1alpha1.TenancyShared,
			Purposes: []openmcpv1alpha1.PurposeName{"platform", "onboarding"},
		},
	}
}

func TestManagedCluster(t *testing.T) {
	cluster := published()
	name, label := ManagedClusterName(keyOf(cluster)), hash("team-a/c", 16)
	want := &clusterv1.ManagedCluster{
		TypeMeta: metav1.TypeMeta{APIVersion: "cluster.open-cluster-management.io/v1", Kind: "ManagedCluster"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"cluster.open-cluster-management.io/clusterset": "default", "cluster.openmcp.cloud/cluster": label, "region": "eu",
			"purpose.cluster.openmcp.cloud/platform": "true", "purpose.cluster.openmcp.cloud/onboarding": "true",
		}, Annotations: map[string]string{
			"cluster.openmcp.cloud/cluster": "team-a/c",
			"cluster.openmcp.cloud/labels": "cluster.open-cluster-management.io/clusterset,cluster.openmcp.cloud/cluster," +
				"purpose.cluster.openmcp.cloud/onboarding,purpose.cluster.openmcp.cloud/platform,region",
		}},
		Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true},
	}
	t.Run("cluster-request C66: the labels of the purposes", func(t *testing.T) {
		expectEqual(t, want, ManagedCluster(cluster, DefaultClusterSet), "ManagedCluster")
	})
	t.Run("cluster-request 4.6: the set of Clusters without the annotation", func(t *testing.T) {
		expectEqual(t, "unbound", ManagedCluster(cluster, "unbound").Labels["cluster.open-cluster-management.io/clusterset"], "set")
	})
	t.Run("cluster-request C67: the set of the annotation", func(t *testing.T) {
		cluster.Annotations = map[string]string{openmcpv1alpha1.ClusterSetAnnotation: "prod"}
		expectEqual(t, "prod", ManagedCluster(cluster, DefaultClusterSet).Labels["cluster.open-cluster-management.io/clusterset"], "set")
	})
	t.Run("cluster-request 4.6: the namespace", func(t *testing.T) {
		namespace := ManagedClusterNamespace(cluster)
		expectEqual(t, name, namespace.Name, "name")
		expectEqual(t, map[string]string{"open-cluster-management.io/cluster-name": name, "cluster.openmcp.cloud/cluster": label}, namespace.Labels,
			"labels")
		if !IsPublished(namespace, keyOf(cluster)) {
			t.Error("the namespace is not that of the Cluster")
		}
	})
	t.Run("cluster-request C71: the same name by somebody else", func(t *testing.T) {
		if IsPublished(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}, keyOf(cluster)) {
			t.Error("it counts as that of the Cluster")
		}
	})
}

func TestPublished(t *testing.T) {
	before := ManagedCluster(published(), DefaultClusterSet)
	before.Labels["admin"], before.Annotations["admin"] = "x", "y"
	before.Spec.Taints = []clusterv1.Taint{{Key: "other"}, {Key: openmcpv1alpha1.TerminatingTaint}}
	cluster := published()
	cluster.Labels, cluster.Spec.Purposes = nil, cluster.Spec.Purposes[:1]

	got := Published(before, ManagedCluster(cluster, DefaultClusterSet))
	want := ManagedCluster(cluster, DefaultClusterSet)
	want.Labels["admin"], want.Annotations["admin"] = "x", "y"
	want.Spec.Taints = []clusterv1.Taint{{Key: "other"}}
	expectEqual(t, want, got, "cluster-request C66, 4.6: labels that the hub wrote and wants no more go, and all others stay")
	expectEqual(t, "eu", before.Labels["region"], "the ManagedCluster that was given")
}

func TestKeepSet(t *testing.T) {
	managed := ManagedCluster(published(), DefaultClusterSet)
	managed.Labels["cluster.open-cluster-management.io/clusterset"] = "prod"
	kept := KeepSet(published(), managed, DefaultClusterSet)
	expectEqual(t, "prod", kept.Annotations[openmcpv1alpha1.ClusterSetAnnotation], "cluster-request 4.6: a Cluster that is made again")
	expectEqual(t, "prod", ManagedCluster(kept, DefaultClusterSet).Labels["cluster.open-cluster-management.io/clusterset"], "set")
	other := published()
	other.Annotations = map[string]string{openmcpv1alpha1.ClusterSetAnnotation: "test"}
	expectEqual(t, "prod", KeepSet(other, managed, DefaultClusterSet).Annotations[openmcpv1alpha1.ClusterSetAnnotation],
		"cluster-request 4.6: a Cluster that is made again with another set")
	expectEqual(t, published(), KeepSet(published(), ManagedCluster(published(), DefaultClusterSet), DefaultClusterSet), "the default set")
}

func TestIsToBePublished(t *testing.T) {
	cluster := published()
	if IsToBePublished(cluster, false) || !IsToBePublished(cluster, true) {
		t.Error("cluster-request 4.6: a Cluster that was never healthy is published only if its ManagedCluster is there")
	}
	cluster.Status.Conditions = []metav1.Condition{{Type: openmcpv1alpha1.ConditionClusterHealthy, Status: metav1.ConditionTrue}}
	if !IsToBePublished(cluster, false) {
		t.Error("cluster-request 4.6: a healthy Cluster is not published")
	}
	cluster.Status.Conditions, cluster.Finalizers = nil, []string{openmcpv1alpha1.InventoryFinalizer}
	if !IsToBePublished(cluster, false) {
		t.Error("cluster-request 4.6: a Cluster that was healthy once is not published any more")
	}
}
