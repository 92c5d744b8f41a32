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
		}, Annotations: map[string]string{"cluster.openmcp.cloud/cluster": "team-a/c"}},
		Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true},
	}
	t.Run("cluster-request C66: the labels of the purposes", func(t *testing.T) {
		expectEqual(t, want, ManagedCluster(cluster), "ManagedCluster")
	})
	t.Run("cluster-request C67: the set of the annotation", func(t *testing.T) {
		cluster.Annotations = map[string]string{openmcpv1alpha1.ClusterSetAnnotation: "prod"}
		expectEqual(t, "prod", ManagedCluster(cluster).Labels["cluster.open-cluster-management.io/clusterset"], "set")
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

func TestClaims(t *testing.T) {
	cluster := published()
	aws := profile("aws", aws, compute)
	common := map[string]string{
		"purpose.cluster.openmcp.cloud/platform": "true", "purpose.cluster.openmcp.cloud/onboarding": "true",
		"provider.cluster.openmcp.cloud": "gardener", "profile.cluster.openmcp.cloud": "aws", "tenancy.cluster.openmcp.cloud": "Shared",
		"kubeversion.open-cluster-management.io": "v1.20.3",
	}
	t.Run("cluster-request C66: a profile that is not published", func(t *testing.T) {
		expectEqual(t, common, Claims(cluster, nil), "claims")
	})
	t.Run("cluster-request C66: purposes and traits", func(t *testing.T) {
		common["trait.cluster.openmcp.cloud/infrastructure/vendor/aws"] = "true"
		common["trait.cluster.openmcp.cloud/kubernetes.io/apis/compute"] = "true"
		expectEqual(t, common, Claims(cluster, &aws), "claims")
	})
}

func TestMergeClaims(t *testing.T) {
	claims := func(text string) []clusterv1.ManagedClusterClaim {
		var list []clusterv1.ManagedClusterClaim
		for item := range strings.FieldsSeq(text) {
			name, value, _ := strings.Cut(item, "=")
			list = append(list, clusterv1.ManagedClusterClaim{Name: name, Value: value})
		}

		return list
	}
	for _, test := range []struct {
		reason, present, annotation, wanted, want, record string
	}{
		{"cluster-request C66: the first time", "", "", "b=2 a=1", "a=1 b=2", `{"a":"1","b":"2"}`},
		{"cluster-request C66: the claims of an agent stay", "z=9 a=agent", "", "a=1 b=2", "z=9 a=agent b=2", `{"b":"2"}`},
		{"cluster-request C66: a purpose is removed", "z=9 a=1 b=2", `{"a":"1","b":"2"}`, "a=1", "z=9 a=1", `{"a":"1"}`},
		{"cluster-request C66: another value", "a=1", `{"a":"1"}`, "a=2", "a=2", `{"a":"2"}`},
		{"cluster-request 4.6: an agent overwrites a claim", "a=agent", `{"a":"1"}`, "a=2", "a=agent", `{}`},
		{"cluster-request 4.6: an agent overwrites a claim that is not wanted any more", "a=agent", `{"a":"1"}`, "", "a=agent", `{}`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			wanted := map[string]string{}
			for _, claim := range claims(test.wanted) {
				wanted[claim.Name] = claim.Value
			}
			got, record, err := MergeClaims(claims(test.present), test.annotation, wanted)
			if err != nil {
				t.Fatal(err)
			}
			expectEqual(t, claims(test.want), got, "claims")
			expectEqual(t, test.record, record, "annotation")
			again, recordAgain, err := MergeClaims(got, record, wanted)
			if err != nil {
				t.Fatal(err)
			}
			expectEqual(t, got, again, "claims merged again")
			expectEqual(t, record, recordAgain, "annotation written again")
		})
	}
	t.Run("cluster-request 4.6: an annotation that cannot be read", func(t *testing.T) {
		if _, _, err := MergeClaims(nil, "[", nil); err == nil || !strings.Contains(err.Error(), "annotation cluster.openmcp.cloud/claims") {
			t.Error(err)
		}
	})
}
