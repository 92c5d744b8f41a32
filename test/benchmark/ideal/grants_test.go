// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
)

func TestOnlyRequestsOfTheScriptAreGranted(t *testing.T) {
	name := metav1.ObjectMeta{Namespace: "ns", Name: "known"}
	script := &precomputed.GrantScript{Grants: []precomputed.Granted{{Grant: openmcpv1alpha1.ClusterRequestGrant{ObjectMeta: name}}}}
	for _, tc := range []struct {
		reason string
		object any
		want   int
	}{
		{"it is in the script", &openmcpv1alpha1.ClusterRequest{ObjectMeta: name}, 1},
		{"it is not", &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other"}}, 0},
		{"another kind", &openmcpv1alpha1.ClusterRequestGrant{ObjectMeta: name}, 0},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			g := newGranter(nil, nil, script)
			g.listen().OnAdd(tc.object, false)
			if len(g.created) != tc.want {
				t.Errorf("%d requests are granted, want %d", len(g.created), tc.want)
			}
		})
	}
}

func TestJoinAddsOneRequest(t *testing.T) {
	cluster := &openmcpv1alpha1.Cluster{}
	cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
	for uid, prefix := range map[types.UID]string{"a": "foo-", "b": "bar-"} {
		if err := join(cluster, uid, prefix); err != nil {
			t.Fatal(err)
		}
		if got := clusterrequest.Prefix(cluster, uid); got != prefix || !clusterrequest.HasRequest(cluster, uid) {
			t.Errorf("request %s has the prefix %q, want %q: %v", uid, got, prefix, cluster.Finalizers)
		}
	}
	cluster.Annotations[openmcpv1alpha1.PrefixesAnnotation] = "no JSON"
	if err := join(cluster, "c", "baz-"); err == nil {
		t.Error("an annotation that cannot be read is replaced")
	}
}
