// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// realistic returns a cluster of typical size: ten labels and claims, six resources, five conditions.
func realistic() *clusterv1.ManagedCluster {
	c := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: "cluster-0001", UID: "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", ResourceVersion: "1", Generation: 2,
			CreationTimestamp: metav1.NewTime(noon), Finalizers: []string{"cluster.open-cluster-management.io/api-resource-cleanup"},
			Labels: map[string]string{}, Annotations: map[string]string{"open-cluster-management/created-via": "other"},
		},
		Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true, LeaseDurationSeconds: 60},
		Status: clusterv1.ManagedClusterStatus{
			Version:     clusterv1.ManagedClusterVersion{Kubernetes: "v1.33.1"},
			Allocatable: clusterv1.ResourceList{}, Capacity: clusterv1.ResourceList{},
		},
	}

	for i := range 10 {
		c.Labels[fmt.Sprintf("feature.open-cluster-management.io/label-%d", i)] = fmt.Sprintf("available-%d", i)
		c.Status.ClusterClaims = append(c.Status.ClusterClaims, clusterv1.ManagedClusterClaim{
			Name: fmt.Sprintf("claim-%d.open-cluster-management.io", i), Value: fmt.Sprintf("value-%d", i),
		})
	}
	for i, name := range []clusterv1.ResourceName{"cpu", "memory", "pods", "ephemeral-storage", "hugepages-1Gi", "nvidia.com/gpu"} {
		c.Status.Allocatable[name] = resource.MustParse(fmt.Sprintf("%d500Mi", i+1))
		c.Status.Capacity[name] = resource.MustParse(fmt.Sprintf("%dGi", i+2))
	}

	for _, name := range []string{"HubAcceptedManagedCluster", "ManagedClusterJoined", clusterv1.ManagedClusterConditionAvailable,
		clusterv1.ManagedClusterConditionClockSynced, "ManagedClusterImportSucceeded"} {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
			Type: name, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon), Reason: name, Message: "as it should be",
		})
	}
	return c
}

// events are changes of a cluster; each returns the state after the change.
var events = []struct {
	name  string
	after func() *clusterv1.ManagedCluster
}{
	{"resync", realistic},
	{"heartbeat", func() *clusterv1.ManagedCluster {
		c := realistic()
		c.ResourceVersion = "2"
		c.Status.Conditions[3].LastTransitionTime = metav1.NewTime(noon.Add(time.Minute))
		return c
	}},
	{"label", func() *clusterv1.ManagedCluster {
		c := realistic()
		c.ResourceVersion = "2"
		c.Labels["feature.open-cluster-management.io/label-3"] = "unreachable"
		return c
	}},
}

func BenchmarkNew(b *testing.B) {
	cluster := realistic()
	b.ReportAllocs()
	for b.Loop() {
		New(cluster, nil)
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, event := range events {
		b.Run(event.name, func(b *testing.B) {
			before, after := New(realistic(), nil), event.after()
			b.ReportAllocs()
			for b.Loop() {
				before.Update(after)
			}
		})
	}
}

func BenchmarkChangedProperties(b *testing.B) {
	for _, event := range events {
		b.Run(event.name, func(b *testing.B) {
			before := New(realistic(), nil)
			after := before.Update(event.after())
			b.ReportAllocs()
			for b.Loop() {
				ChangedProperties(before, after)
			}
		})
	}
}
