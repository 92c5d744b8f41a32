// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

func TestCompareTellsWhatALimitMeans(t *testing.T) {
	objects := newObjects()
	for i := range 12 {
		objects.carryOut(t, objects.request(fmt.Sprintf("r%02d", i), "workload"))
	}
	after := *objects
	after.Purposes = replaced(objects.Purposes, "workload", func(p *openmcpv1alpha1.Purpose) { p.Spec.TenancyLimit = 3 })

	want := &Difference{
		Requests: []RequestDifference{}, Granted: 12, Before: Totals{Requests: 12, Clusters: 6}, After: Totals{Requests: 12, Clusters: 4},
	}
	if diff := cmp.Diff(want, Compare(objects, &after, now)); diff != "" {
		t.Errorf("difference (-want +got):\n%s", diff)
	}
	if !want.Differ() || Compare(objects, objects, now).Differ() {
		t.Error("the difference is not told")
	}
}

func TestCompareTellsWhichRequestsGetAnotherResult(t *testing.T) {
	before := newObjects()
	before.carryOut(t, before.request("granted", "workload"))
	before.request("no-gpu", "gpu")
	after := *before
	after.Purposes = replaced(before.Purposes, "gpu", func(p *openmcpv1alpha1.Purpose) { p.Spec.Traits = nil })
	added := newObjects().request("added", "workload")
	added.UID = "" // It is from a file.
	after.Requests = append(after.Requests[:2:2], added)

	got := Compare(before, &after, now)

	want := []RequestDifference{
		{Namespace: "team-a", Name: "added", After: "Granted Cluster team-a/" + before.Clusters[0].Name},
		{Namespace: "team-a", Name: "no-gpu", Before: "Denied, NoMatchingProfile", After: "Granted new Cluster team-a/gpu"},
	}
	if diff := cmp.Diff(want, got.Requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if got.Granted != 1 || got.Before.Refused != 1 || got.After.Refused != 0 {
		t.Errorf("totals: %+v", got)
	}
}

// Clusters that were made by hand are there also if all requests were made anew.
func TestCompareKeepsClustersThatWereMadeByHand(t *testing.T) {
	objects := newObjects()
	objects.Clusters = append(objects.Clusters, &openmcpv1alpha1.Cluster{Spec: openmcpv1alpha1.ClusterSpec{
		ClusterProviderRef: openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"},
		Tenancy:            openmcpv1alpha1.TenancyShared, Purposes: []openmcpv1alpha1.PurposeName{"workload"},
	}})
	objects.Clusters[0].Namespace, objects.Clusters[0].Name = "team-a", "by-hand"
	for i := range 3 {
		objects.carryOut(t, objects.request(fmt.Sprintf("r%d", i), "workload"))
	}

	got := objects.anew().run(now)
	if got.totals().Clusters != 2 || got[keyOf(objects.Requests[0])].cluster.Name != "by-hand" {
		t.Errorf("anew: %+v", got)
	}
}
