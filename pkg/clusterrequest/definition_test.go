// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// docs/spec/trust.md T2.
func TestManagedClusterStaysWithoutItsCluster(t *testing.T) {
	recorded := func(uid string) map[string]string {
		return map[string]string{openmcpv1alpha1.DefinitionAnnotation: uid}
	}
	for _, test := range []struct {
		reason      string
		annotations map[string]string
		taints      []clusterv1.Taint
		want        bool
	}{
		{reason: "the Cluster was seen under the present definition", annotations: recorded("now")},
		{reason: "the Cluster was seen under another definition", annotations: recorded("former"), want: true},
		{reason: "a former hub recorded no definition", want: true},
		{reason: "the deletion was seen", annotations: recorded("former"), taints: []clusterv1.Taint{{Key: openmcpv1alpha1.TerminatingTaint}}},
		{reason: "another taint", annotations: recorded("former"), taints: []clusterv1.Taint{{Key: "gpu"}}, want: true},
		{reason: "an admin withdraws it", annotations: map[string]string{openmcpv1alpha1.WithdrawAnnotation: "true"}},
		{reason: "the annotation says no", annotations: map[string]string{openmcpv1alpha1.WithdrawAnnotation: "false"}, want: true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			managed := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "m", Annotations: test.annotations}}
			managed.Spec.Taints = test.taints
			condition, keeps := Definition{UID: "now"}.Keeps(managed, types.NamespacedName{Namespace: "n", Name: "c"})
			expectEqual(t, test.want, keeps, "whether the ManagedCluster stays")
			expectEqual(t, test.want, condition.Status == metav1.ConditionTrue, "whether a condition says so")
		})
	}
}

func TestDefinitionMayHaveTaken(t *testing.T) {
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		reason     string
		definition Definition
		witness    time.Time
		want       bool
	}{
		{"the kind is of another API server", Definition{}, created, false},
		{"the definition is older than the witness", Definition{Created: created}, created.Add(time.Second), false},
		{"both are of one second", Definition{Created: created}, created, true},
		{"the definition is newer", Definition{Created: created}, created.Add(-time.Hour), true},
		{"an old definition is being deleted", Definition{Created: created, Terminating: true}, created.Add(time.Hour), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			witness := &metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(test.witness)}
			expectEqual(t, test.want, test.definition.MayHaveTaken(witness), "whether it may have taken the object")
		})
	}
}

// docs/spec/trust.md T2: access that was given stays while the request is lost with its definition.
func TestAccessStaysWhileTheRequestIsLost(t *testing.T) {
	access := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}
	access.Spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: "r"}
	access.Status.ClusterRef = &openmcpv1alpha1.NamespacedName{Namespace: "n", Name: "c"}
	terminating := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "r", DeletionTimestamp: &metav1.Time{}}}
	for _, test := range []struct {
		reason string
		to     AccessReferents
		want   metav1.ConditionStatus
	}{
		{"gone", AccessReferents{}, metav1.ConditionFalse},
		{"gone with its definition", AccessReferents{RequestLost: true}, ""},
		{"being deleted", AccessReferents{Request: terminating}, metav1.ConditionFalse},
		{"being deleted with its definition", AccessReferents{Request: terminating, RequestLost: true}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			expectEqual(t, test.want, ResolveAccess(access, test.to).Resolved, "condition Resolved")
		})
	}
	access.Status.ClusterRef = nil
	resolution := ResolveAccess(access, AccessReferents{RequestLost: true})
	expectEqual(t, metav1.ConditionFalse, resolution.Resolved, "condition of an access that was not given")
}

// docs/spec/trust.md T2: a Cluster that is created again leaves its ManagedCluster available until its provider had the time to report.
func TestRecreatedClusterStaysAvailable(t *testing.T) {
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	available := metav1.Condition{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Running"}
	for _, test := range []struct {
		reason  string
		present []metav1.Condition
		now     time.Time
		want    metav1.ConditionStatus
	}{
		{"a new Cluster", nil, created, metav1.ConditionUnknown},
		{"it was available", []metav1.Condition{available}, created.Add(recreationGrace - time.Second), metav1.ConditionTrue},
		{"its provider is silent for long", []metav1.Condition{available}, created.Add(recreationGrace), metav1.ConditionUnknown},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := published()
			cluster.CreationTimestamp = metav1.NewTime(created)
			condition, until := Available(cluster, types.NamespacedName{}, test.present, Heartbeat{}, test.now)
			expectEqual(t, test.want, condition.Status, "availability")
			expectEqual(t, test.want == metav1.ConditionTrue, until.Equal(created.Add(recreationGrace)), "whether it is looked at again")
		})
	}
}
