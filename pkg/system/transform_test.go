// SPDX-License-Identifier: Apache-2.0

package system

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
)

// longPage is a page of so many decisions, as the API server has it.
func longPage(name string, decisions int) *clusterv1beta1.PlacementDecision {
	page := &clusterv1beta1.PlacementDecision{
		TypeMeta: metav1.TypeMeta{APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "PlacementDecision"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: "5d6a4e0c-7d0f-4a38-8f5d-8b3a5b7a4d11", ResourceVersion: "12345",
			Annotations: map[string]string{"example.com/note": "stays"},
			Labels: map[string]string{
				clusterv1beta1.PlacementLabel: "p", clusterv1beta1.DecisionGroupIndexLabel: "0", clusterv1beta1.DecisionGroupNameLabel: "",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "Placement", Name: "p", UID: "u", Controller: ptr.To(true),
			}},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "placement"}},
		},
	}

	for n := range decisions {
		page.Status.Decisions = append(page.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("cluster-eu-west-%05d", n)})
	}
	return page
}

// What is cached is what the API server said, except for field managers.
func TestCompactChangesNothingThatIsRead(t *testing.T) {
	meta := longPage("p-decision-1", 0).ObjectMeta
	transform := compact()
	for _, object := range []client.Object{
		longPage("p-decision-1", 3),
		&clusterv1beta1.PlacementDecision{Status: clusterv1beta1.PlacementDecisionStatus{Decisions: []clusterv1beta1.ClusterDecision{}}},
		&clusterv1beta1.PlacementDecision{},
		&placementv1alpha1.PlacementDecision{ObjectMeta: meta, Decisions: []placementv1alpha1.ClusterDecision{{ClusterName: "a", Available: true}}},
		&clusterinventory.PlacementDecision{ObjectMeta: meta, Decisions: []clusterinventory.ClusterDecision{
			{ClusterProfileRef: clusterinventory.ClusterProfileReference{Namespace: "x", Name: "a"}, Reason: "because"},
		}},
		&clusterv1.ManagedCluster{ObjectMeta: meta}, reportedCluster("c1"), &clusterv1beta1.Placement{ObjectMeta: meta},
	} {
		want, isObject := object.DeepCopyObject().(client.Object)
		if !isObject {
			t.Fatalf("a copy of %T is no object", object)
		}
		want.SetManagedFields(nil)
		got, err := transform(object)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%T (-want +got):\n%s%v", object, diff, err)
		}
	}

	tombstone := toolscache.DeletedFinalStateUnknown{Key: "ns/p"}
	if got, err := transform(tombstone); err != nil || got != tombstone {
		t.Errorf("what is no object became %v, %v", got, err)
	}
}

// Of a ClusterProfile is cached what placement reads: its names, labels and cluster manager.
func TestCompactDropsTheStatusOfAClusterProfile(t *testing.T) {
	profile := &clusterinventory.ClusterProfile{ObjectMeta: longPage("c1", 0).ObjectMeta}
	profile.Spec.ClusterManager.Name = "open-cluster-management"
	want := profile.DeepCopy()
	want.ManagedFields = nil
	profile.Status.Properties = []clusterinventory.Property{{Name: "region", Value: "eu"}}
	got, err := compact()(profile)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("-want +got:\n%s%v", diff, err)
	}
}

// Of a name that stands in many pages there is one copy, and the lists have no room to spare.
func TestCompactKeepsNamesOnce(t *testing.T) {
	transform := compact()
	first, second := longPage("p-decision-1", 3), longPage("q-decision-1", 3)
	for _, page := range []*clusterv1beta1.PlacementDecision{first, second} {
		if _, err := transform(page); err != nil {
			t.Fatal(err)
		}
		if room := cap(page.Status.Decisions); room != 3 {
			t.Errorf("%s has room for %d decisions, want 3", page.Name, room)
		}
	}

	for n, decision := range first.Status.Decisions {
		if unsafe.StringData(decision.ClusterName) != unsafe.StringData(second.Status.Decisions[n].ClusterName) {
			t.Errorf("there are two copies of %s", decision.ClusterName)
		}
	}
}

// reportedCluster returns a cluster as an agent reports it, with strings of its own.
func reportedCluster(name string) *clusterv1.ManagedCluster {
	own := strings.Clone
	list := func() clusterv1.ResourceList {
		return clusterv1.ResourceList{clusterv1.ResourceName(own("cpu")): resource.MustParse("4"), clusterv1.ResourceName(own("pods")): {}}
	}
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{own("region"): own("eu-west"), own("name"): name}, Annotations: map[string]string{own("note"): "stays"},
	}}
	cluster.Spec.Taints = append(make([]clusterv1.Taint, 0, 4), clusterv1.Taint{Key: own("gpu"), Value: own("true"), Effect: "NoSelect"})
	cluster.Status = clusterv1.ManagedClusterStatus{
		Version: clusterv1.ManagedClusterVersion{Kubernetes: own("v1.36.1")}, Capacity: list(), Allocatable: list(),
		ClusterClaims: append(make([]clusterv1.ManagedClusterClaim, 0, 4), clusterv1.ManagedClusterClaim{Name: own("zone"), Value: own("b")}),
		Conditions: append(make([]metav1.Condition, 0, 4), metav1.Condition{
			Type: own("HubAcceptedManagedCluster"), Reason: own("HubClusterAdminAccepted"), Message: own("Accepted by hub cluster admin"),
		}),
	}
	return cluster
}

// Of what clusters say alike there is one copy, and their lists have no room to spare.
func TestCompactKeepsWhatClustersShareOnce(t *testing.T) {
	transform := compact()
	stringsOf := func(cluster *clusterv1.ManagedCluster) map[string]string {
		if _, err := transform(cluster); err != nil {
			t.Fatal(err)
		}
		status := cluster.Status
		if cap(cluster.Spec.Taints) != 1 || cap(status.ClusterClaims) != 1 || cap(status.Conditions) != 1 {
			t.Errorf("room for %d taints, %d claims, %d conditions; want 1 each",
				cap(cluster.Spec.Taints), cap(status.ClusterClaims), cap(status.Conditions))
		}
		taint, claim, condition := cluster.Spec.Taints[0], status.ClusterClaims[0], status.Conditions[0]
		found := map[string]string{
			"taint key": taint.Key, "taint value": taint.Value, "claim name": claim.Name, "claim value": claim.Value, "type": condition.Type,
			"reason": condition.Reason, "message": condition.Message, "version": status.Version.Kubernetes, "label value": cluster.Labels["region"],
		}
		for key := range cluster.Labels {
			found["label "+key] = key
		}
		for key := range cluster.Annotations {
			found["annotation "+key] = key
		}
		for key := range status.Capacity {
			found["capacity "+string(key)] = string(key)
		}
		for key := range status.Allocatable {
			found["allocatable "+string(key)] = string(key)
		}
		return found
	}

	first, second := stringsOf(reportedCluster("c1")), stringsOf(reportedCluster("c2"))
	for what, text := range first {
		if unsafe.StringData(text) != unsafe.StringData(second[what]) {
			t.Errorf("%s: there are two copies of %q", what, text)
		}
	}
}

// The table of the names in decisions keeps them when an agent reports many different strings.
func TestCompactKeepsNamesBesideAnAgent(t *testing.T) {
	transform := compact()
	first, second := longPage("p-decision-1", 1), longPage("q-decision-1", 1)
	if _, err := transform(first); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		cluster := reportedCluster("c1")
		for i := range 1000 {
			value := strings.Repeat("x", 1000) + strconv.Itoa(n) + "-" + strconv.Itoa(i)
			cluster.Status.ClusterClaims = append(cluster.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: "a", Value: value})
		}
		if _, err := transform(cluster); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := transform(second); err != nil {
		t.Fatal(err)
	}
	if unsafe.StringData(first.Status.Decisions[0].ClusterName) != unsafe.StringData(second.Status.Decisions[0].ClusterName) {
		t.Error("there are two copies of the name of a cluster")
	}
}

// What is known is bounded.
func TestNamesAreBounded(t *testing.T) {
	n := &names{known: map[string]string{}}
	for i := range mostNames + 5 {
		name := strconv.Itoa(i)
		n.keep(&name)
		if name != strconv.Itoa(i) {
			t.Fatalf("%d became %s", i, name)
		}
	}

	if len(n.known) != 5 {
		t.Errorf("%d strings are known, want 5", len(n.known))
	}
}

// So is how long they are together.
func TestBytesOfNamesAreBounded(t *testing.T) {
	const length = 253
	n := &names{known: map[string]string{}}
	for i := range 2 * mostNameBytes / length {
		name := fmt.Sprintf("%0*d", length, i)
		n.keep(&name)
		if n.bytes > mostNameBytes || n.bytes != len(n.known)*length {
			t.Fatalf("%d strings take %d bytes, the books say %d", len(n.known), len(n.known)*length, n.bytes)
		}
	}
}

// BenchmarkCache tells the bytes that one decision takes in a cache, for long pages and for many short ones.
func BenchmarkCache(b *testing.B) {
	decoder := serializer.NewCodecFactory(Scheme()).UniversalDeserializer()
	for _, size := range []struct{ pages, decisions int }{{1000, 93}, {5000, 20}} {
		data, err := json.Marshal(longPage("p-decision-1", size.decisions))
		if err != nil {
			b.Fatal(err)
		}

		for name, transform := range map[string]toolscache.TransformFunc{"stripped": cache.TransformStripManagedFields(), "compact": compact()} {
			b.Run(fmt.Sprintf("%s/%d", name, size.decisions), func(b *testing.B) {
				for b.Loop() {
					before := heap()
					objects := make([]apiruntime.Object, 0, size.pages)
					for range size.pages {
						object, _, err := decoder.Decode(data, nil, nil)
						if err == nil {
							_, err = transform(object)
						}
						if err != nil {
							b.Fatal(err)
						}
						objects = append(objects, object)
					}

					b.ReportMetric(float64(heap()-before)/float64(size.pages*size.decisions), "heap-B/decision")
					runtime.KeepAlive(objects)
				}
			})
		}
	}
}

// heap is how many bytes are in use.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
