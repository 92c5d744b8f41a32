// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

func TestOnlyTheLabelOfTheClusterIsWritten(t *testing.T) {
	cluster := func(name, value string) *clusterv1.ManagedCluster {
		return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"l": value, "other": name}}}
	}
	for _, tc := range []struct {
		reason string
		before any
		after  any
		want   int
	}{
		{"the label changes", cluster("c1", ""), cluster("c1", "yes"), 1},
		{"a heartbeat", cluster("c1", "yes"), cluster("c1", "yes"), 0},
		{"another cluster", cluster("c2", ""), cluster("c2", "yes"), 0},
		{"another kind", &clusterv1.ManagedClusterList{}, &clusterv1.ManagedClusterList{}, 0},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			values := make(chan string, 1)
			listen("c1", "l", values).OnUpdate(tc.before, tc.after)
			if len(values) != tc.want {
				t.Fatalf("the decisions of %d values are written, want %d", len(values), tc.want)
			}
			if tc.want > 0 {
				if value := <-values; value != "yes" {
					t.Errorf("the decisions of %q are written, want those of yes", value)
				}
			}
		})
	}
}
