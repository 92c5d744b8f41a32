// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
)

func TestTheClustersAreAsDescribed(t *testing.T) {
	got := map[string]int{}
	for _, obj := range objectsOf(t, Others(), "clusters") {
		got[obj.GetKind()]++
	}
	want := map[string]int{
		"ClusterProvider": 2, "ProviderConfig": 1, "Purpose": 3, "Namespace": 3, "ClusterRequest": 4,
		"ManagedClusterSetBinding": 1, "Placement": 1, "AccessRequest": 1, "Role": 1, "RoleBinding": 2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("doc.go and the comments give these counts (-want +got):\n%s", diff)
	}
}

// The comment of every ClusterRequest says what it gets, by the code of the controller.
func TestExpectationsOfClusterRequests(t *testing.T) {
	none := clusterrequest.Options{Strategy: clusterrequest.Balanced, Scope: clusterrequest.ScopeCluster}
	before, platform := &requests.Objects{Options: none}, &requests.Objects{Options: none, Providers: []*openmcpv1alpha1.ClusterProvider{{
		ObjectMeta: metav1.ObjectMeta{Name: "null"},
		Status: openmcpv1alpha1.ClusterProviderStatus{Ready: true, Profiles: []openmcpv1alpha1.Profile{{
			Name: "default", SupportedVersions: []openmcpv1alpha1.SupportedVersion{{Version: "1.35.4"}},
			SupportedTraits: []openmcpv1alpha1.SupportedTrait{{Trait: "cluster.openmcp.cloud/workerless"}},
		}}},
	}}}
	for _, obj := range decode(t, ClustersPlatform) {
		switch obj.GetKind() {
		case "Purpose":
			platform.Purposes = append(platform.Purposes, typed(t, obj, &openmcpv1alpha1.Purpose{}))
		case "ProviderConfig":
			config := typed(t, obj, &loopbackv1alpha1.ProviderConfig{})
			loopback := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: config.Spec.ProviderRef.Name}}
			loopback.Status.Ready = true
			for _, profile := range config.Spec.Profiles {
				loopback.Status.Profiles = append(loopback.Status.Profiles, openmcpv1alpha1.Profile{
					Name: profile.Name, SupportedVersions: profile.Versions, SupportedTraits: profile.Traits,
				})
			}
			platform.Providers = append(platform.Providers, loopback)
		}
	}
	want := map[string]string{}
	lists := expectations(t, ClustersRequests)
	for i, obj := range decode(t, ClustersRequests) {
		request := typed(t, obj, &openmcpv1alpha1.ClusterRequest{})
		request.CreationTimestamp = metav1.NewTime(time.Unix(int64(i), 0)) // They are applied in this order.
		platform.Requests = append(platform.Requests, request)
		want[request.Namespace+"/"+request.Name] = lists[i]
	}
	got := map[string]string{}
	for _, difference := range requests.Compare(before, platform, metav1.Now()).Requests {
		got[difference.Namespace+"/"+difference.Name] = difference.After
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-comments +got):\n%s", diff)
	}
}

// typed converts an object of a file.
func typed[T any](t *testing.T, obj *unstructured.Unstructured, into T) T {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(obj.Object, into, true); err != nil {
		t.Fatalf("%s: %v", key(obj), err)
	}
	return into
}
