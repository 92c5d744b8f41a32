// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	inEurope = `federation.alpha.kubernetes.io/cluster-selector: '[{"key":"location","operator":"in","values":["europe"]}]'`
	inUSA    = `federation.alpha.kubernetes.io/cluster-selector: '[{"key":"location","operator":"in","values":["usa"]}]'`
)

// world is a hub with the members of docs/spec/federated-selector.md in the set "members", which is bound to "team-a".
type world struct {
	t         *testing.T
	objects   Objects
	inventory *inventory.Inventory
	compiler  *selector.Compiler
	decisions map[string]federation.Decisions
}

func newWorld(t *testing.T, objects ...string) *world {
	t.Helper()
	compiler := selector.NewCompiler()
	w := &world{t: t, compiler: compiler, inventory: inventory.New(compiler), objects: Objects{HubNamespace: "hub", Namespaces: []*corev1.Namespace{
		{ObjectMeta: metav1.ObjectMeta{Name: "team-a", Labels: map[string]string{federation.FederatedLabel: "true"}}},
	}}}
	w.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "members"}})
	w.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "members"},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "members"},
	})

	for name, location := range map[string]string{"eu1": "europe", "eu2": "europe", "us1": "usa"} {
		w.cluster(name, location)
	}
	w.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
	for _, object := range objects {
		w.add(object)
	}
	return w
}

func (w *world) cluster(name, location string) {
	w.inventory.SetCluster(&clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "members", "location": location}},
		Status: clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{
			{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue},
		}},
	})
}

// add adds an object in YAML.
func (w *world) add(text string) *unstructured.Unstructured {
	w.t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		w.t.Fatal(err)
	}
	w.objects.Objects = append(w.objects.Objects, object)
	return object
}

// deliver adds the ManifestWorks of an object to clusters, with a number of replicas for workloads.
func (w *world) deliver(object *unstructured.Unstructured, replicas int32, clusters ...string) []*workv1.ManifestWork {
	w.t.Helper()
	kind, found := w.objects.kindOf(object)
	if !found {
		w.t.Fatalf("%s is not delivered", object.GetKind())
	}
	var works []*workv1.ManifestWork

	for _, cluster := range clusters {
		work, err := federation.NewPayload(kind, object).Work(cluster, federation.Variant{HasReplicas: kind.HasReplicas(), Replicas: replicas})
		if err != nil {
			w.t.Fatal(err)
		}
		works = append(works, work)
	}
	w.objects.Works = append(w.objects.Works, works...)
	return works
}

func (w *world) evaluate() []Evaluation {
	hub := Hub{
		Compiler: w.compiler, Snapshot: w.inventory.Snapshot(),
		Decisions: func(name types.NamespacedName) federation.Decisions { return w.decisions[name.Name] },
	}
	return NewEvaluator(&w.objects).Evaluate(hub, epoch)
}

// report returns the report of an object.
func (w *world) report(object string) Report {
	w.t.Helper()
	for _, evaluation := range w.evaluate() {
		if evaluation.Object.Identity().String() == object {
			return NewReport(evaluation, false)
		}
	}
	w.t.Fatalf("%s is not evaluated", object)
	return Report{}
}

func configMap(name, annotation string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: team-a, annotations: {" + annotation + "}}, data: {a: b}}"
}

// deployment has 9 replicas, and needs the ConfigMap settings.
func deployment(annotations string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a, generation: 1, annotations: {` + annotations + `}}
spec:
  replicas: 9
  template: {spec: {containers: [{name: web, envFrom: [{configMapRef: {name: settings}}]}]}}
`
}
