// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
)

var now = metav1.NewTime(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))

func readyProvider() *openmcpv1alpha1.ClusterProvider {
	provider := ClusterProvider()
	provider.Status.Ready = true
	provider.Status.Profiles = []openmcpv1alpha1.Profile{{
		Name: profile, SupportedVersions: []openmcpv1alpha1.SupportedVersion{{Version: version}},
	}}
	return provider
}

func healthyCluster() *openmcpv1alpha1.Cluster {
	cluster := FreeCluster(0)
	cluster.Status.Conditions = []metav1.Condition{{
		Type: openmcpv1alpha1.ConditionClusterHealthy, Status: metav1.ConditionTrue, Reason: "NothingRuns",
	}}
	return cluster
}

func newRequests(purpose string, n int) []openmcpv1alpha1.ClusterRequest {
	all := make([]openmcpv1alpha1.ClusterRequest, n)
	for i := range all {
		all[i] = *Request(purpose, "many", i)
		all[i].UID, all[i].Generation = types.UID(fmt.Sprintf("uid-%d", i)), 1
	}
	return all
}

func planned(t *testing.T, pattern Pattern) ([]openmcpv1alpha1.ClusterRequest, []precomputed.GrantedCluster) {
	t.Helper()
	all := newRequests(FloorPurpose, Limit+2)
	clusters, err := Plan(all, readyProvider(), healthyCluster(), pattern, now)
	if err != nil {
		t.Fatal(err)
	}
	return all, clusters
}

func TestPlanHasTheWritesOfThePattern(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		pattern Pattern
		want    string
	}{
		{"no pattern: as few as possible", Pattern{}, "[20] [2]"},
		{"one by one, and in two batches", Pattern{Joins: [][]int{{1, 7, 12}, {1, 1}}}, "[1 8 20] [1 2]"},
		{"a pattern of more requests", Pattern{Joins: [][]int{{20}, {1, 4, 5}}}, "[20] [1 2]"},
		{"a pattern of fewer requests", Pattern{Joins: [][]int{{3}}}, "[3 20] [2]"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			_, clusters := planned(t, tc.pattern)
			var got []string
			for _, cluster := range clusters {
				var counts []int
				for i := range cluster.States {
					counts = append(counts, len(clusterrequest.RequestUIDs(&cluster.States[i])))
				}
				got = append(got, fmt.Sprint(counts))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("requests after each write (-want +got):\n%s", diff)
			}
		})
	}
	_, clusters := planned(t, Pattern{Statuses: []int{1, 2}})
	for i, want := range []int{1, 2, 1} {
		if got := len(clusters[0].Requests[i].Statuses); got != want {
			t.Errorf("the status of request %d is written %d times, want %d", i, got, want)
		}
	}
}

func TestPlanRefusesWhatTheHubRefuses(t *testing.T) {
	all := newRequests("unknown", 1)
	if _, err := Plan(all, readyProvider(), healthyCluster(), Pattern{}, now); err == nil || !strings.Contains(err.Error(), "Purpose") {
		t.Errorf("a request for an unknown Purpose: %v", err)
	}
	if _, err := Single(Request(HubPurpose, "one", 0), healthyCluster(), now); err != nil {
		t.Errorf("a request into a free Cluster: %v", err)
	}
	full := healthyCluster()
	for i := range Limit {
		full.Finalizers = append(full.Finalizers, fmt.Sprintf("%s%d", openmcpv1alpha1.RequestFinalizerPrefix, i))
	}
	if _, err := Single(Request(HubPurpose, "one", 0), full, now); err == nil {
		t.Error("a request into a full Cluster is granted")
	}
}

// worldOf returns the objects after all writes of a plan.
func worldOf(all []openmcpv1alpha1.ClusterRequest, clusters []precomputed.GrantedCluster) *World {
	w := &World{}
	statuses := map[string]openmcpv1alpha1.ClusterRequestStatus{}
	for _, cluster := range clusters {
		w.Clusters = append(w.Clusters, *cluster.States[len(cluster.States)-1].DeepCopy())
		for _, granted := range cluster.Requests {
			w.Grants = append(w.Grants, *granted.Grant.DeepCopy())
			statuses[granted.Grant.Name] = granted.Statuses[len(granted.Statuses)-1]
		}
	}
	for i := range all {
		request := *all[i].DeepCopy()
		statuses := statuses[request.Name]
		request.Status = *statuses.DeepCopy()
		w.Requests = append(w.Requests, request)
	}

	return w
}

// A check that cannot fail shows nothing: each kind of mistake is found.
func TestFindings(t *testing.T) {
	all, clusters := planned(t, Pattern{Statuses: []int{2, 2}})
	for _, tc := range []struct {
		reason  string
		corrupt func(w *World)
		want    string
	}{
		{"nothing is wrong", func(*World) {}, ""},
		{"a request is not granted", func(w *World) { w.Requests[0].Status = openmcpv1alpha1.ClusterRequestStatus{} }, `has the status ""`},
		{"a Cluster is not ready", func(w *World) { w.Requests[0].Status.Conditions = nil }, "that is not ready"},
		{"a Grant is missing", func(w *World) { w.Grants = w.Grants[1:] }, "has no Grant"},
		{"a Grant is of another request", func(w *World) { w.Grants[0].OwnerReferences[0].UID = "x" }, "has no Grant"},
		{"a finalizer is missing", func(w *World) { w.Clusters[0].Finalizers = w.Clusters[0].Finalizers[1:] }, "has no finalizer"},
		{"prefixes differ", func(w *World) { w.Grants[0].Spec.Prefix = "other-" }, `has the prefix "other-" in its Grant`},
		{"a Cluster has too many", func(w *World) {
			w.Clusters[0].Finalizers = append(w.Clusters[0].Finalizers, openmcpv1alpha1.RequestFinalizerPrefix+"x")
		}, "has 21 requests"},
		{"a prefix is given twice", func(w *World) {
			w.Clusters[0].Annotations[openmcpv1alpha1.PrefixesAnnotation] = `{"uid-0":"foo-","uid-1":"foo-bar-"}`
		}, `has given out the prefixes`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := worldOf(all, clusters)
			tc.corrupt(w)
			got := strings.Join(w.Findings(), "\n")
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

func TestNumbersOfClusters(t *testing.T) {
	for _, tc := range []struct{ requests, clusters, free int }{{200, 10, 20}, {10000, 500, 1000}, {201, 11, 18}} {
		if got := Clusters(tc.requests); got != tc.clusters {
			t.Errorf("%d requests share %d Clusters, want %d", tc.requests, got, tc.clusters)
		}
		if got := FreeClusters(tc.requests); got != tc.free {
			t.Errorf("beside %d requests there are %d free Clusters, want %d", tc.requests, got, tc.free)
		}
	}
	if !Healthy(healthyCluster()) || Healthy(FreeCluster(0)) {
		t.Error("the health of a Cluster is not that of its condition")
	}
}
