// SPDX-License-Identifier: Apache-2.0

package setlist

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

func TestMembership(t *testing.T) {
	gpu := &metav1.LabelSelector{MatchLabels: map[string]string{"gpu": "yes"}}
	for _, tc := range []struct {
		reason         string
		selector       clusterv1beta2.ManagedClusterSelector
		bySelector     bool
		mistaken       bool
		gpus, everyone bool
	}{
		{reason: "the default is the label"},
		{reason: "the label", selector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel}},
		{
			reason: "a selector", selector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector, LabelSelector: gpu},
			bySelector: true, gpus: true,
		},
		{
			reason: "an empty selector", bySelector: true, gpus: true, everyone: true,
			selector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{}},
		},
		{reason: "no selector", selector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector}, bySelector: true},
		{reason: "an unknown type", selector: clusterv1beta2.ManagedClusterSelector{SelectorType: "Other"}, bySelector: true, mistaken: true},
	} {
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		set.Spec.ClusterSelector = tc.selector
		members := NewMembership().BySelector(set)
		if (members != nil) != tc.bySelector {
			t.Errorf("%s: members %v", tc.reason, members)
		}
		if members == nil {
			continue
		}
		gpus, everyone := members.Contains(map[string]string{"gpu": "yes"}), members.Contains(nil)
		if (members.Err() != nil) != tc.mistaken || gpus != tc.gpus || everyone != tc.everyone {
			t.Errorf("%s: mistake %v, a GPU %t, nothing %t", tc.reason, members.Err(), gpus, everyone)
		}
	}
}
