// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

func TestPublication(t *testing.T) {
	w := newWorld(t, healthy("platform"))
	w.beat()
	writes, _ := w.reconcileOnce()
	want := []string{
		"patch Cluster", "create Namespace", "create ServiceAccount", "create RoleBinding", "create ManagedCluster", "status ManagedCluster",
		"apply status",
	}
	if diff := cmp.Diff(want, writes); diff != "" {
		t.Errorf("cluster-request 4.6: the finalizer comes first, and the status of the Cluster last (-want +got):\n%s", diff)
	}

	managed := w.mustManaged()
	if !managed.Spec.HubAcceptsClient || managed.Annotations[openmcpv1alpha1.ClusterAnnotation] != webAt.String() {
		t.Errorf("spec %+v, annotations %v", managed.Spec, managed.Annotations)
	}
	if !meta.IsStatusConditionTrue(managed.Status.Conditions, clusterv1.ManagedClusterConditionAvailable) {
		t.Errorf("cluster-request C65: conditions %+v", managed.Status.Conditions)
	}

	cluster := w.cluster()
	if cluster.Status.ManagedCluster != name || !meta.IsStatusConditionTrue(cluster.Status.Conditions, openmcpv1alpha1.ConditionPublished) {
		t.Errorf("status of the Cluster %+v", cluster.Status)
	}
	if !slices.Contains(cluster.Finalizers, openmcpv1alpha1.InventoryFinalizer) || !w.told(openmcpv1alpha1.ConditionPublished) {
		t.Errorf("finalizers %v, or no Event", cluster.Finalizers)
	}
	w.settle()
}

func TestNotYetPublished(t *testing.T) {
	cluster := healthy("platform")
	cluster.Status.Conditions[0].Status = metav1.ConditionFalse
	w := newWorld(t, cluster)
	if writes, _ := w.reconcileOnce(); len(writes) > 0 {
		t.Errorf("cluster-request 4.6: a Cluster that was never healthy: %v", writes)
	}
}

func TestLabelsAndClaims(t *testing.T) {
	w := newWorld(t, healthy("platform", "onboarding"))
	w.change(func(c *openmcpv1alpha1.Cluster) {
		c.Labels = map[string]string{openmcpv1alpha1.PlacementLabelPrefix + "tier": "gold", "cost-center": "platform"}
		c.Annotations = map[string]string{"example.com/contact": "platform-team"}
	})
	w.reconcileOnce()

	managed := w.mustManaged()
	if diff := cmp.Diff([]string{
		clusterv1beta2.ClusterSetLabel, openmcpv1alpha1.ClusterLabel, openmcpv1alpha1.PurposeKeyPrefix + "onboarding",
		openmcpv1alpha1.PurposeKeyPrefix + "platform", "tier",
	}, labelKeys(managed)); diff != "" {
		t.Errorf("cluster-request C66: labels (-want +got):\n%s", diff)
	}
	if _, found := managed.Annotations["example.com/contact"]; found {
		t.Error("cluster-request 4.1.3: the ManagedCluster has an annotation of the Cluster")
	}

	if diff := cmp.Diff([]string{
		"kubeversion.open-cluster-management.io=v1.20.3", "profile.cluster.openmcp.cloud=aws", "provider.cluster.openmcp.cloud=gardener",
		"purpose.cluster.openmcp.cloud/onboarding=true", "purpose.cluster.openmcp.cloud/platform=true", "tenancy.cluster.openmcp.cloud=Shared",
		"trait.cluster.openmcp.cloud/kubernetes.io/apis/compute=true",
	}, claims(managed)); diff != "" {
		t.Errorf("cluster-request C66: claims (-want +got):\n%s", diff)
	}

	// An agent adds a claim, and an admin a label. Then the Cluster loses a purpose and a label.
	managed.Labels["by-hand"] = "yes"
	if err := w.api.Update(t.Context(), managed); err != nil {
		t.Fatal(err)
	}
	managed.Status.ClusterClaims = append(managed.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: "of-the-agent", Value: "x"})
	if err := w.api.Status().Update(t.Context(), managed); err != nil {
		t.Fatal(err)
	}
	w.change(func(c *openmcpv1alpha1.Cluster) { c.Spec.Purposes, c.Labels = c.Spec.Purposes[:1], nil })
	w.settle()

	managed = w.mustManaged()
	for _, key := range []string{openmcpv1alpha1.PurposeKeyPrefix + "onboarding", "tier"} {
		if _, found := managed.Labels[key]; found {
			t.Errorf("cluster-request C66: label %s is still there", key)
		}
	}
	if managed.Labels["by-hand"] != "yes" {
		t.Error("cluster-request 4.6: the label of somebody else is gone")
	}

	if has := claims(managed); !slices.Contains(has, "of-the-agent=x") || slices.Contains(has, "purpose.cluster.openmcp.cloud/onboarding=true") {
		t.Errorf("cluster-request C66: claims %v", has)
	}
}

func TestSetOfAPublishedCluster(t *testing.T) {
	w := newWorld(t, healthy("platform"))
	w.reconcileOnce()
	if set := w.mustManaged().Labels[clusterv1beta2.ClusterSetLabel]; set != clusterrequest.DefaultClusterSet {
		t.Errorf("cluster-request 4.6: set %q", set)
	}
	w.change(func(c *openmcpv1alpha1.Cluster) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, openmcpv1alpha1.ClusterSetAnnotation, "blue")
	})
	w.settle()

	if set := w.mustManaged().Labels[clusterv1beta2.ClusterSetLabel]; set != "blue" {
		t.Errorf("cluster-request C67: set %q", set)
	}

	// The Cluster is lost and made again without the annotation: the ManagedCluster stays in its set.
	w.change(func(c *openmcpv1alpha1.Cluster) { c.Finalizers = nil })
	if err := w.api.Delete(t.Context(), w.cluster()); err != nil {
		t.Fatal(err)
	}
	if err := w.api.Create(t.Context(), healthy("platform")); err != nil {
		t.Fatal(err)
	}
	w.settle()

	if set := w.mustManaged().Labels[clusterv1beta2.ClusterSetLabel]; set != "blue" {
		t.Errorf("cluster-request 4.6: set %q of a Cluster that was made again", set)
	}
	if set := w.cluster().Annotations[openmcpv1alpha1.ClusterSetAnnotation]; set != "blue" {
		t.Errorf("cluster-request 4.6: annotation %q of a Cluster that was made again", set)
	}
}

func TestAvailability(t *testing.T) {
	available := func(w *world) metav1.ConditionStatus {
		condition := meta.FindStatusCondition(w.mustManaged().Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
		if condition == nil {
			return ""
		}
		return condition.Status
	}

	w := newWorld(t, healthy("platform"))
	w.beat()
	_, again := w.reconcileOnce()
	if available(w) != metav1.ConditionTrue || again != time.Minute {
		t.Errorf("cluster-request C65: %s, again after %s", available(w), again)
	}
	w.settle()
	w.clock.SetTime(start.Add(time.Minute - time.Second))
	w.beat()

	if writes, _ := w.reconcileOnce(); len(writes) > 0 {
		t.Errorf("cluster-request C65: a renewal writes %v", writes)
	}
	w.clock.SetTime(start.Add(3 * time.Minute))
	w.reconcileOnce()
	if available(w) != metav1.ConditionUnknown {
		t.Errorf("cluster-request C65: %s after the provider has stopped", available(w))
	}
	w.beat()
	w.reconcileOnce()

	if available(w) != metav1.ConditionTrue {
		t.Errorf("cluster-request C65: %s after the provider is back", available(w))
	}
	w.change(func(c *openmcpv1alpha1.Cluster) {
		condition := meta.FindStatusCondition(c.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy)
		condition.Status, condition.Reason = metav1.ConditionFalse, "Broken"
	})
	w.reconcileOnce()

	if available(w) != metav1.ConditionFalse {
		t.Errorf("cluster-request 4.6: %s of a cluster that is not healthy", available(w))
	}
}

func TestTakenNames(t *testing.T) {
	for _, tc := range []struct {
		reason string
		object func() (*clusterv1.ManagedCluster, *corev1.Namespace)
	}{
		{"cluster-request C71: a ManagedCluster of the name", func() (*clusterv1.ManagedCluster, *corev1.Namespace) {
			return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "foreign"}}, nil
		}},
		{"cluster-request C71: a namespace of the name", func() (*clusterv1.ManagedCluster, *corev1.Namespace) {
			return nil, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "foreign"}}
		}},
		{"cluster-request C71: the namespace of another Cluster", func() (*clusterv1.ManagedCluster, *corev1.Namespace) {
			return nil, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				Name: name, UID: "foreign", Annotations: map[string]string{openmcpv1alpha1.ClusterAnnotation: "shop/other"},
			}}
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, healthy("platform"))
			managed, namespace := tc.object()
			if managed != nil {
				if err := w.api.Create(t.Context(), managed); err != nil {
					t.Fatal(err)
				}
			} else if err := w.api.Create(t.Context(), namespace); err != nil {
				t.Fatal(err)
			}

			_, again := w.reconcileOnce()
			if again != takenRetry || !w.told(openmcpv1alpha1.ReasonNameTaken) {
				t.Errorf("again after %s, or no Event", again)
			}
			published := meta.FindStatusCondition(w.cluster().Status.Conditions, openmcpv1alpha1.ConditionPublished)
			if published == nil || published.Status != metav1.ConditionFalse || published.Reason != openmcpv1alpha1.ReasonNameTaken {
				t.Errorf("condition %+v", published)
			}

			if managed != nil && len(w.mustManaged().Labels) > 0 {
				t.Errorf("the ManagedCluster of somebody else has labels: %v", w.mustManaged().Labels)
			}
			if writes, _ := w.reconcileOnce(); len(writes) > 0 || w.told(openmcpv1alpha1.ReasonNameTaken) {
				t.Errorf("law 4: it writes again: %v", writes)
			}
		})
	}
}

func TestLostCompanionsComeBack(t *testing.T) {
	w := newWorld(t, healthy("platform"))
	w.settle()
	agent := types.NamespacedName{Namespace: name, Name: clusterrequest.WorkAgent}
	if !w.get(agent, &corev1.ServiceAccount{}) || !w.get(agent, &rbacv1.RoleBinding{}) {
		t.Fatal("cluster-request 4.4: the work agent has no account")
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: agent.Namespace, Name: agent.Name}}
	if err := w.api.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}

	if err := w.api.Delete(t.Context(), w.mustManaged()); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if w.managed() == nil || !w.get(agent, &rbacv1.RoleBinding{}) {
		t.Error("cluster-request 4.6: what was lost of a published Cluster is not there again")
	}
}
