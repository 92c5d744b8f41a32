// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/property"
)

// Law 7: what explain, diff and simulate say of a federated object is what the controller does, in random hubs with works of others, clusters
// without a namespace, sets that are not bound, and annotations that cannot be read.
func TestToolsAgreeWithTheHubOnObjects(tb *testing.T) {
	property.CheckTimes(tb, 60, func(t *rapid.T) {
		a := &agreement{T: t, world: newWorld(tb, selecting("europe"))}
		a.limit.Percent = new(rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "percent"))
		a.limit.LastCluster = new(rapid.SampledFrom([]removalbudget.LastCluster{
			removalbudget.KeepLastCluster, removalbudget.UpstreamLastCluster,
		}).Draw(t, "last cluster"))
		a.delivery.limits = federation.LimitsOf(a.limit)
		a.fail = a.refuse
		a.done()

		for range rapid.IntRange(0, 3).Draw(t, "events before") {
			if rapid.Bool().Draw(t, "fleet") {
				a.disturb("move", "unbind")
			} else {
				a.edit("europe", "usa", "percent", "content")
			}
			a.done()
		}

		// The tools do not know what the hub has withdrawn within the window of the budget, and since when clusters are out of scope.
		// A removal that the budget holds follows once the window is over, and begins another one: each window takes one cluster at least.
		for range 3 {
			a.time.SetTime(a.time.Now().Add(removalbudget.Window + time.Minute))
			a.done()
		}
		before := a.read()
		kind := rapid.SampledFrom([]string{"explain", "simulate", "diff"}).Draw(t, "command")

		for range rapid.IntRange(1, 2).Draw(t, "events") {
			switch {
			case kind == "diff":
				a.edit("europe", "usa", "mars", "unreadable", "percent", "content")
			case kind == "simulate" || rapid.Bool().Draw(t, "fleet"):
				a.disturb("move", "move", "foreign", "homeless", "unbind")
			default:
				a.edit("europe", "usa", "mars", "unreadable", "percent", "content")
			}
		}

		after := a.read()
		said := a.differences(before, after)
		if kind == "explain" { // It does not know what the hub remembers of the time before.
			a.restart()
			said = a.report(after)
		}
		had := strings.Fields(a.clusters())
		a.done()

		// Where there is no namespace, what is due waits for it.
		said.Gained = slices.DeleteFunc(said.Gained, func(cluster string) bool { return cluster == a.homeless })
		if diff := cmp.Diff(a.clusters(), said.become(had)); diff != "" {
			t.Errorf("%s, %+v: clusters with a work (-written +said):\n%s", kind, said, diff)
		}
	})
}

// agreement is a world whose object and fleet change at random.
type agreement struct {
	*rapid.T
	*world

	limit removalbudget.Limit
	// homeless is a cluster whose namespace does not exist; empty for none.
	homeless string
}

// verdict is what the hub does, or a tool predicts, with the works of the object.
type verdict struct{ Gained, Lost []string }

// become returns which of the clusters have a work in the end.
func (v verdict) become(clusters []string) string {
	clusters = slices.DeleteFunc(slices.Concat(clusters, v.Gained), func(cluster string) bool { return slices.Contains(v.Lost, cluster) })
	slices.Sort(clusters)
	return strings.Join(slices.Compact(clusters), " ")
}

// refuse refuses works in a namespace that does not exist.
func (a *agreement) refuse(verb, cluster string) error {
	if verb == "create" && cluster == a.homeless {
		return apierrors.NewNotFound(corev1.Resource("namespaces"), cluster)
	}
	return nil
}

// restart gives the hub a memory without what it remembered.
func (a *agreement) restart() { a.state.memories = newMemories() }

// done lets the hub do everything that it does within the time in which clusters keep their works after they have left the scope. It has seen
// what the tools see: one whose caches are behind may deliver to a cluster that is not bound any more.
func (a *agreement) done() {
	a.show()
	for range 2 {
		if _, err := a.reconcileOnce(keyOfConfigMap("x")); err != nil {
			a.Fatal(err)
		}
		a.settle()
		a.time.SetTime(a.time.Now().Add(federation.ScopeGrace + time.Second))
	}

	if _, err := a.reconcileOnce(keyOfConfigMap("x")); err != nil {
		a.Fatal(err)
	}
	a.settle()
}

// disturb changes the fleet, or what is in the way of works, by one of the events.
func (a *agreement) disturb(events ...string) {
	cluster := rapid.SampledFrom([]string{"eu1", "eu2", "us1"}).Draw(a.T, "cluster")
	switch rapid.SampledFrom(events).Draw(a.T, "event") {
	case "move":
		location := rapid.SampledFrom([]string{"europe", "usa"}).Draw(a.T, "location")
		change(a.world, member(cluster, map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = location })
	case "foreign":
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster, Name: a.state.identity(keyOfConfigMap("x")).WorkName(), Labels: map[string]string{"of": "others"},
		}}
		if err := a.store.Create(a.Context(), work); err != nil && !apierrors.IsAlreadyExists(err) {
			a.Fatal(err)
		}
	case "homeless":
		a.homeless = rapid.SampledFrom([]string{"", cluster}).Draw(a.T, "cluster without a namespace")
	case "unbind":
		bound := a.store.Get(a.Context(), keyOfConfigMap("members").NamespacedName, &clusterv1beta2.ManagedClusterSetBinding{}) == nil
		binding := members()
		if bound {
			a.check(a.store.Delete(a.Context(), binding))
		} else {
			a.check(a.store.Create(a.Context(), binding))
		}
	}
}

// edit changes the object as a user does, in one of the ways.
func (a *agreement) edit(ways ...string) {
	change(a.world, selecting(""), func(object *corev1.ConfigMap) {
		switch rapid.SampledFrom(ways).Draw(a.T, "edit") {
		case "europe":
			object.Annotations[federation.SelectorAnnotation] = selectorOf("europe")
		case "usa":
			object.Annotations[federation.SelectorAnnotation] = selectorOf("usa")
		case "mars":
			object.Annotations[federation.SelectorAnnotation] = selectorOf("mars")
		case "unreadable":
			object.Annotations[federation.SelectorAnnotation] = "no JSON"
		case "percent":
			object.Annotations[removalbudget.PercentAnnotation] = strconv.Itoa(rapid.SampledFrom([]int{0, 50, 100}).Draw(a.T, "percent annotation"))
		case "content":
			object.Data["a"] += "b"
		}
	})
}

// read returns the state that the tools read of the hub.
func (a *agreement) read() *explain.State {
	state := &explain.State{Federated: federated.Objects{HubNamespace: "hub", Limit: a.limit}}
	if a.homeless != "" {
		state.Federated.WithoutNamespace = []string{a.homeless}
	}

	list(a, &clusterv1.ManagedClusterList{}, func(l *clusterv1.ManagedClusterList) {
		for i := range l.Items {
			state.Clusters = append(state.Clusters, &l.Items[i])
		}
	})
	list(a, &clusterv1beta2.ManagedClusterSetList{}, func(l *clusterv1beta2.ManagedClusterSetList) {
		for i := range l.Items {
			state.ClusterSets = append(state.ClusterSets, &l.Items[i])
		}
	})
	list(a, &clusterv1beta2.ManagedClusterSetBindingList{}, func(l *clusterv1beta2.ManagedClusterSetBindingList) {
		for i := range l.Items {
			state.Bindings = append(state.Bindings, &l.Items[i])
		}
	})
	list(a, &corev1.NamespaceList{}, func(l *corev1.NamespaceList) {
		for i := range l.Items {
			state.Federated.Namespaces = append(state.Federated.Namespaces, &l.Items[i])
		}
	})
	list(a, &workv1.ManifestWorkList{}, func(l *workv1.ManifestWorkList) {
		for i := range l.Items {
			state.Federated.Works = append(state.Federated.Works, &l.Items[i])
		}
	})
	list(a, &corev1.ConfigMapList{}, func(l *corev1.ConfigMapList) {
		for i := range l.Items {
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&l.Items[i])
			if err != nil {
				a.Fatal(err)
			}
			object := &unstructured.Unstructured{Object: fields}
			object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			state.Federated.Objects = append(state.Federated.Objects, object)
		}
	})

	return state
}

// report is what explain says of the object.
func (a *agreement) report(state *explain.State) verdict {
	var said verdict
	for _, object := range state.ReportObjects(explain.ObjectFilter{}, false, a.time.Now()).Objects {
		for _, cluster := range object.Clusters {
			switch cluster.Pending {
			case federated.PendingCreate:
				said.Gained = append(said.Gained, cluster.Name)
			case federated.PendingWithdraw:
				said.Lost = append(said.Lost, cluster.Name)
			case "", federated.PendingUpdate, federated.PendingHold, federated.PendingConflict:
			default:
				a.Fatalf("%s is %s in a world without agents", cluster.Name, cluster.Pending)
			}
		}
	}

	return said
}

// differences are what diff and simulate say of the object.
func (a *agreement) differences(before, after *explain.State) verdict {
	var said verdict
	for _, difference := range before.DiffObjects(after, nil, a.time.Now()) {
		for _, change := range difference.Gained {
			said.Gained = append(said.Gained, change.Cluster)
		}
		for _, change := range difference.Lost {
			said.Lost = append(said.Lost, change.Cluster)
		}
	}
	return said
}

// list reads all objects of a type.
func list[L client.ObjectList](a *agreement, into L, use func(L)) {
	a.check(a.store.List(a.Context(), into))
	use(into)
}
