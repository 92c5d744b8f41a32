// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
)

// appliedByHub returns the entries of a ClusterProfile with a property and a condition, all of which the hub has applied.
func appliedByHub() []metav1.ManagedFieldsEntry {
	status := managedBy(clusterprofiles.FieldManager)
	status.Subresource, status.FieldsV1 = "status", metav1.NewFieldsV1(`{"f:status":{"f:version":{"f:kubernetes":{}},`+
		`"f:conditions":{"k:{\"type\":\"Joined\"}":{".":{},"f:status":{}}},"f:properties":{"k:{\"name\":\"region\"}":{".":{},"f:value":{}}}}}`)
	object := managedBy(clusterprofiles.FieldManager)
	object.FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:open-cluster-management.io/cluster-name":{},` +
		`"f:x-k8s.io/cluster-manager":{}}},"f:spec":{"f:clusterManager":{"f:name":{}},"f:displayName":{}}}`)
	return []metav1.ManagedFieldsEntry{object, status}
}

// reported returns a cluster with a version, a claim and a condition.
func reported() *clusterv1.ManagedCluster {
	joined := metav1.Condition{
		Type: clusterv1.ManagedClusterConditionJoined, Status: metav1.ConditionTrue, Reason: "Joined", Message: "m",
		LastTransitionTime: metav1.Unix(5, 0),
	}
	return &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c1"},
		Status: clusterv1.ManagedClusterStatus{
			Version:       clusterv1.ManagedClusterVersion{Kubernetes: "v1.36.1"},
			ClusterClaims: []clusterv1.ManagedClusterClaim{{Name: "region", Value: "eu"}}, Conditions: []metav1.Condition{joined},
		},
	}
}

// settled returns the ClusterProfile of the cluster of reported.
func settled() *clusterinventory.ClusterProfile {
	profile := &clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, UID: "u", ResourceVersion: "7", Generation: 3, CreationTimestamp: metav1.Unix(5, 0),
		Labels:        map[string]string{clusterprofiles.ClusterManagerLabel: clusterprofiles.ClusterManager, clusterv1.ClusterNameLabelKey: "c1"},
		ManagedFields: appliedByHub(),
	}}
	profile.Spec.DisplayName, profile.Spec.ClusterManager.Name = "c1", clusterprofiles.ClusterManager
	profile.Status.Version.Kubernetes = "v1.36.1"
	profile.Status.Properties = []clusterinventory.Property{{Name: "region", Value: "eu"}}
	profile.Status.Conditions = []metav1.Condition{{
		Type: clusterprofiles.ConditionJoined, Status: metav1.ConditionTrue, Reason: "Joined", Message: "m", LastTransitionTime: metav1.Unix(5, 0),
	}}
	return profile
}

// docs/spec/cluster-profiles.md CP6: whatever has changed, a compact ClusterProfile is compared as the whole one.
func TestCompactComparesAsTheWhole(t *testing.T) {
	patterns, err := clusterprofiles.ParsePatterns([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	wanted, _ := patterns.Profile(reported())
	none, object, status := clusterprofiles.Write{}, clusterprofiles.Write{Object: true}, clusterprofiles.Write{Status: true}

	for name, test := range map[string]struct {
		change func(*clusterinventory.ClusterProfile)
		want   clusterprofiles.Write
	}{
		"nothing": {change: func(*clusterinventory.ClusterProfile) {}, want: none},
		"a label of another": {
			change: func(p *clusterinventory.ClusterProfile) { p.Labels["team"] = "a" }, want: none,
		},
		"a property of another": {
			change: func(p *clusterinventory.ClusterProfile) {
				p.Status.Properties = append(p.Status.Properties, clusterinventory.Property{Name: "a", Value: "b"})
			}, want: none,
		},
		"ways to access the cluster": {
			change: func(p *clusterinventory.ClusterProfile) {
				p.Status.AccessProviders = []clusterinventory.AccessProvider{{Name: "a"}}
			}, want: none,
		},
		"a label": {
			change: func(p *clusterinventory.ClusterProfile) { p.Labels[clusterv1.ClusterNameLabelKey] = "x" }, want: object,
		},
		"the display name": {change: func(p *clusterinventory.ClusterProfile) { p.Spec.DisplayName = "x" }, want: object},
		"a value":          {change: func(p *clusterinventory.ClusterProfile) { p.Status.Properties[0].Value = "us" }, want: status},
		"the version":      {change: func(p *clusterinventory.ClusterProfile) { p.Status.Version.Kubernetes = "" }, want: status},
		"a message":        {change: func(p *clusterinventory.ClusterProfile) { p.Status.Conditions[0].Message = "x" }, want: status},
		"the owner of the status": {
			change: func(p *clusterinventory.ClusterProfile) { p.ManagedFields = p.ManagedFields[:1] }, want: status,
		},
		"every owner": {
			change: func(p *clusterinventory.ClusterProfile) { p.ManagedFields = nil }, want: clusterprofiles.Write{Object: true, Status: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			profile := settled()
			test.change(profile)
			if got := wanted.Compare(digestsOf(profile)); got != test.want {
				t.Errorf("the whole one: write %+v, want %+v", got, test.want)
			}
			compact(profile, nil)
			if got := wanted.Compare(digestsOf(profile)); got != test.want {
				t.Errorf("the compact one: write %+v, want %+v", got, test.want)
			}
		})
	}
}

// A compact ClusterProfile keeps who it is, who has applied it and what takeOver reads. It may be made compact again.
func TestCompactKeepsWhatIsRead(t *testing.T) {
	another, former, own := managedBy("kubectl"), managedBy("registration"), appliedByHub()
	for name, test := range map[string]struct{ entries, want []metav1.ManagedFieldsEntry }{
		"nobody":          {},
		"another":         {entries: []metav1.ManagedFieldsEntry{another}},
		"the hub":         {entries: append(own[:2:2], another), want: managedByHub},
		"a former writer": {entries: []metav1.ManagedFieldsEntry{another, former}, want: []metav1.ManagedFieldsEntry{former}},
		"both":            {entries: append(own[:2:2], former), want: []metav1.ManagedFieldsEntry{managedByHub[0], former}},
	} {
		t.Run(name, func(t *testing.T) {
			profile := settled()
			profile.ManagedFields = test.entries
			want := clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: key.Name, UID: "u", ResourceVersion: "7", CreationTimestamp: metav1.Unix(5, 0),
				ManagedFields: test.want,
			}}
			want.Spec.ClusterManager.Name = clusterprofiles.ClusterManager

			compact(profile, []string{"registration"})
			again := profile.DeepCopy()
			compact(again, nil)
			if diff := cmp.Diff(profile, again); diff != "" {
				t.Errorf("compact once more: %s", diff)
			}
			again.Status = clusterinventory.ClusterProfileStatus{}
			if diff := cmp.Diff(&want, again); diff != "" {
				t.Error(diff)
			}
		})
	}
	if len(managedByHub) != 1 {
		t.Errorf("the shared entries have grown to %d", len(managedByHub))
	}
}
