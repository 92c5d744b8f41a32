// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/test/expect"
)

// docs/spec/differences.md E1a: a question names the workloads of the namespace that the user may list, without those that others make, and counts
// those beyond its limit.
func TestE1aTheWorkloadsThatAreCompared(t *testing.T) {
	builder := fake.NewClientBuilder().WithScheme(scheme.New())
	for i := range endpoint.MaxWorkloads {
		builder.WithObjects(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: fmt.Sprintf("d%03d", i)}})
	}
	made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "made", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "1", Controller: ptr.To(true)},
	}}}
	pod := func(namespace, name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	hub := builder.WithObjects(made, pod("team-a", "p"), pod("team-a", "q"), pod("team-b", "theirs")).Build()
	deployments := endpoint.KindRef{Group: "apps", Kind: "Deployment"}
	podKind, secrets := endpoint.KindRef{Kind: "Pod"}, endpoint.KindRef{Kind: "Secret"}
	for _, tc := range []struct {
		reason     string
		kinds      []endpoint.KindRef
		last       string
		count, out int
	}{
		{reason: "no kind"},
		{reason: "Pods", kinds: []endpoint.KindRef{secrets, podKind}, last: "q", count: 2},
		{reason: "more than a question names", kinds: []endpoint.KindRef{deployments, podKind}, last: "d099", count: endpoint.MaxWorkloads, out: 2},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			workloads, leftOut, err := workloadsToCompare(t.Context(), hub, "team-a", tc.kinds)
			expect.NoError(t, err)
			last := ""
			if len(workloads) > 0 {
				last = workloads[len(workloads)-1].Name
			}
			if len(workloads) != tc.count || leftOut != tc.out || last != tc.last {
				t.Errorf("%d workloads, the last %q, %d left out; want %d, %q, %d", len(workloads), last, leftOut, tc.count, tc.last, tc.out)
			}
		})
	}
}
