// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"
	workv1 "open-cluster-management.io/api/work/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/test/property"
)

func kindOf(name string) FederatedKind {
	for _, kind := range DefaultKinds() {
		if kind.Kind == name {
			return kind
		}
	}
	return FederatedKind{}
}

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := utiljson.Unmarshal(encoded, &object.Object); err != nil { // As the API server's objects are decoded: with int64.
		t.Fatal(err)
	}
	return object
}

func workOf(t *testing.T, object *unstructured.Unstructured, replicas *int32) *workv1.ManifestWork {
	t.Helper()
	variant := Variant{HasReplicas: replicas != nil}
	if replicas != nil {
		variant.Replicas = *replicas
	}
	work, err := NewPayload(kindOf(object.GetKind()), object).Work("c1", variant)
	if err != nil {
		t.Fatal(err)
	}
	return work
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: team-a
  uid: u
  resourceVersion: "7"
  generation: 3
  creationTimestamp: "2026-01-01T00:00:00Z"
  finalizers: [federation.kubernetes.io/delete-from-underlying-clusters]
  managedFields: [{manager: kubectl}]
  labels: {app: web}
  annotations:
    team: a
    federation.alpha.kubernetes.io/cluster-selector: "[]"
    federation.kubernetes.io/deployment-preferences: "{}"
    federation.kubernetes.io/orphan: "true"
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    deployment.kubernetes.io/revision: "2"
spec:
  replicas: 9
  template: {spec: {containers: [{name: c, image: "a<b"}]}}
status: {replicas: 9}
`

const service = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: team-a, annotations: {placement.open-cluster-management.io/placement: p}}
spec:
  type: NodePort
  clusterIP: 10.0.0.1
  clusterIPs: [10.0.0.1]
  externalIPs: [1.2.3.4]
  ports: [{port: 80, nodePort: 30000}, {port: 81}]
`

func TestPayload(t *testing.T) {
	for _, c := range []struct {
		name, object, want string
		replicas           *int32
	}{
		{"federated-selector 3.1.4: what the hub sets is not copied", deployment, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a, labels: {app: web}, annotations: {team: a}}
spec: {replicas: 4, template: {spec: {containers: [{name: c, image: "a<b"}]}}}`, ptr.To[int32](4)},
		{"federated-selector F32: addresses and ports of the hub are not copied", service, `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: team-a}
spec: {type: NodePort, externalIPs: [1.2.3.4], ports: [{port: 80}, {port: 81}]}`, nil},
		{
			"federated-selector 3.1.4: a headless Service stays headless",
			`{apiVersion: v1, kind: Service, metadata: {name: x, namespace: ns}, spec: {clusterIP: None, clusterIPs: [None]}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: x, namespace: ns}, spec: {clusterIP: None}}`, nil,
		},
		{
			"federated-selector 3.1.4: data",
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ns, uid: u}, data: {a: b}, immutable: true}`,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ns}, data: {a: b}, immutable: true}`, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := objectOf(t, c.object)
			before := object.DeepCopy()
			work := workOf(t, object, c.replicas)

			got := unstructured.Unstructured{}
			if err := json.Unmarshal(work.Spec.Workload.Manifests[1].Raw, &got); err != nil {
				t.Fatal(err)
			}
			want, err := objectOf(t, c.want).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}

			encoded, err := got.MarshalJSON()
			if diff := cmp.Diff(string(want), string(encoded)); err != nil || diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, object); diff != "" {
				t.Errorf("the object changed: %s", diff)
			}
		})
	}
}

func TestWork(t *testing.T) {
	work := workOf(t, objectOf(t, deployment), ptr.To[int32](4))
	apply := &workv1.UpdateStrategy{
		Type: workv1.UpdateStrategyTypeServerSideApply, ServerSideApply: &workv1.ServerSideApplyConfig{FieldManager: "work-agent-federation"},
	}
	name := "fed-deployment-" + shortHash("Deployment.apps/team-a/web")

	t.Run("federated-selector 3.1.4: name, labels, annotations and options", func(t *testing.T) {
		hash := work.Annotations[HashAnnotation]
		want := &workv1.ManifestWork{
			TypeMeta: metav1.TypeMeta{APIVersion: "work.open-cluster-management.io/v1", Kind: "ManifestWork"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "c1", Name: name,
				Labels: map[string]string{
					"federation.kubernetes.io/kind": "Deployment", "federation.kubernetes.io/namespace": "team-a",
					"federation.kubernetes.io/name": "web", "federation.kubernetes.io/managed": "true",
				},
				Annotations: map[string]string{
					"federation.kubernetes.io/object": "Deployment.apps/team-a/web", "federation.kubernetes.io/payload-hash": hash,
				},
			},
			Spec: workv1.ManifestWorkSpec{
				Workload: work.Spec.Workload,
				DeleteOption: &workv1.DeleteOption{
					PropagationPolicy: "SelectivelyOrphan",
					SelectivelyOrphan: &workv1.SelectivelyOrphan{
						OrphaningRules: []workv1.OrphaningRule{{Resource: "namespaces", Name: "team-a"}},
					},
				},
				ManifestConfigs: []workv1.ManifestConfigOption{
					{ResourceIdentifier: workv1.ResourceIdentifier{Resource: "namespaces", Name: "team-a"}, UpdateStrategy: apply},
					{
						ResourceIdentifier: workv1.ResourceIdentifier{Group: "apps", Resource: "deployments", Namespace: "team-a", Name: "web"},
						UpdateStrategy:     apply, FeedbackRules: []workv1.FeedbackRule{{Type: "WellKnownStatus"}},
					},
				},
			},
		}
		if diff := cmp.Diff(want, work); diff != "" || len(hash) != 64 {
			t.Errorf("hash %s, %s", hash, diff)
		}

		namespace := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-a"}}`
		if got := string(work.Spec.Workload.Manifests[0].Raw); got != namespace {
			t.Errorf("the first manifest is %s", got)
		}
	})
	t.Run("federated-selector 3.1.6: the ready replicas of a ReplicaSet", func(t *testing.T) {
		object := objectOf(t, `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: x, namespace: ns}}`)
		work := workOf(t, object, ptr.To[int32](0))
		want := []workv1.FeedbackRule{{Type: "JSONPaths", JsonPaths: []workv1.JsonPath{{Name: ReadyReplicas, Path: ".status.readyReplicas"}}}}
		if diff := cmp.Diff(want, work.Spec.ManifestConfigs[1].FeedbackRules); diff != "" {
			t.Error(diff)
		}
		if replicas, err := PlannedReplicas(work); replicas != 0 || err != nil {
			t.Errorf("%d replicas, %v", replicas, err)
		}
	})
	t.Run("federated-selector 3.1.6: the replicas of a work", func(t *testing.T) {
		reported := work.DeepCopy()
		reported.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{{}, {StatusFeedbacks: workv1.StatusFeedbackResult{
			Values: []workv1.FeedbackValue{{Name: ReadyReplicas, Value: workv1.FieldValue{Type: workv1.Integer, Integer: ptr.To[int64](3)}}},
		}}}
		if replicas, err := PlannedReplicas(work); replicas != 4 || err != nil || ReadyOf(work) != 0 || ReadyOf(reported) != 3 {
			t.Errorf("%d replicas, %v, %d ready", replicas, err, ReadyOf(reported))
		}
	})
	t.Run("federated-selector 3.1.4: a name that a label cannot hold", func(t *testing.T) {
		object := objectOf(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ns}}`)
		object.SetName(strings.Repeat("a", 200))
		if got := workOf(t, object, nil).Labels[NameLabel]; got != shortHash(object.GetName()) {
			t.Errorf("label %s", got)
		}
	})
	t.Run("federated-selector 3.1.4: a work of that name that is not the hub's", func(t *testing.T) {
		identity := NewPayload(kindOf("Deployment"), objectOf(t, deployment)).Identity()
		foreign := work.DeepCopy()
		foreign.Annotations = nil
		if !identity.Owns(work) || identity.Owns(foreign) {
			t.Error("ownership is by name and annotation")
		}
	})
	t.Run("federated-selector F39: 600 KiB", func(t *testing.T) {
		object := objectOf(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ns}}`)
		object.Object["data"] = map[string]any{"a": strings.Repeat("x", 600*1024)}
		_, err := NewPayload(kindOf("ConfigMap"), object).Work("c1", Variant{})
		if tooLarge := (*TooLargeError)(nil); !errors.As(err, &tooLarge) || tooLarge.Size < 600*1024 {
			t.Errorf("error %v", err)
		}
	})
	t.Run("federated-selector F39: the largest size and one byte more", func(t *testing.T) {
		object := objectOf(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ns}}`)
		write := func(length int) error {
			object.Object["data"] = map[string]any{"a": strings.Repeat("x", length)}
			_, err := NewPayload(kindOf("ConfigMap"), object).Work("c1", Variant{})
			return err
		}
		var larger *TooLargeError
		if !errors.As(write(MaxPayload), &larger) {
			t.Fatal("the data alone has the largest size")
		}
		longest := 2*MaxPayload - larger.Size
		if err := write(longest); err != nil {
			t.Error(err)
		}
		if err := write(longest + 1); err == nil || err.Error() != "the manifests have 512001 bytes, which exceeds the limit of 512000" {
			t.Errorf("one byte more: %v", err)
		}
	})
	t.Run("the clusters that a Placement selects in a hub that gets it", func(t *testing.T) {
		object := objectOf(t, `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement, metadata: {name: x, namespace: ns}}`)
		work, err := NewPayload(FederatedKind{GroupVersionKind: placements, Resource: "placements"}, object).Work("c1", Variant{})
		if err != nil {
			t.Fatal(err)
		}
		want := []workv1.FeedbackRule{{
			Type: "JSONPaths", JsonPaths: []workv1.JsonPath{{Name: SelectedClusters, Path: ".status.numberOfSelectedClusters"}},
		}}
		if diff := cmp.Diff(want, work.Spec.ManifestConfigs[1].FeedbackRules); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("federated-selector F22, 3.1.5: orphan", func(t *testing.T) {
		orphan, err := NewPayload(kindOf("Deployment"), objectOf(t, deployment)).Work("c1", Variant{Orphan: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&workv1.DeleteOption{PropagationPolicy: "Orphan"}, orphan.Spec.DeleteOption); diff != "" {
			t.Error(diff)
		}
		orphan.Generation = 2

		for _, c := range []struct {
			reason  string
			applied metav1.Condition
			want    bool
		}{
			{"an earlier generation is applied", metav1.Condition{Status: metav1.ConditionTrue, ObservedGeneration: 1}, false},
			{"a copy has a conflict, and still belongs to the agent", metav1.Condition{Status: metav1.ConditionFalse, ObservedGeneration: 2}, false},
			{"the generation with the policy is applied", metav1.Condition{Status: metav1.ConditionTrue, ObservedGeneration: 2}, true},
		} {
			c.applied.Type = workv1.WorkApplied
			orphan.Status.Conditions = []metav1.Condition{c.applied}
			if got := OrphanSeen(orphan); got != c.want {
				t.Errorf("%s: %t", c.reason, got)
			}
		}
	})
}

// The annotation of a work names its object, in the form that the hub writes.
func TestParseObject(t *testing.T) {
	for value, want := range map[string]bool{
		"Deployment.apps/team-a/web": true, "ConfigMap/team-a/x": true,
		"": false, "ConfigMap": false, "ConfigMap/x": false, "ConfigMap/team-a/x/y": false, "/team-a/x": false, "ConfigMap//x": false,
		"ConfigMap/team-a/": false,
	} {
		groupKind, name, valid := ParseObject(value)
		if valid != want {
			t.Errorf("%q: valid is %v", value, valid)
		}
		if text := groupKind + "/" + name.String(); valid && text != value {
			t.Errorf("%q: got %s", value, text)
		}
	}
}

// TestWorkHash checks that the hash of a work is that of the stored one, and that each edit of somebody else changes it
// (docs/spec/federated-selector.md 3.1.4).
func TestWorkHash(t *testing.T) {
	work := workOf(t, objectOf(t, deployment), ptr.To[int32](4))
	stored := work.DeepCopy()
	stored.Labels["of"], stored.Generation = "others", 3
	stored.Spec.Workload.Manifests[1].Raw = []byte(strings.ReplaceAll(string(work.Spec.Workload.Manifests[1].Raw), `\u003c`, "<"))
	stored.Spec.ManifestConfigs[1].FeedbackScrapeType = workv1.FeedbackPollType
	if hash, err := WorkHash(stored); err != nil || hash != work.Annotations[HashAnnotation] {
		t.Errorf("hash %s, %v", hash, err)
	}

	for name, edit := range map[string]func(*workv1.ManifestWork){
		"a label":      func(w *workv1.ManifestWork) { delete(w.Labels, ManagedLabel) },
		"an identity":  func(w *workv1.ManifestWork) { w.Annotations[ObjectAnnotation] = "x" },
		"a manifest":   func(w *workv1.ManifestWork) { w.Spec.Workload.Manifests[0].Raw = []byte(`{}`) },
		"a removal":    func(w *workv1.ManifestWork) { w.Spec.Workload.Manifests = w.Spec.Workload.Manifests[:1] },
		"the deletion": func(w *workv1.ManifestWork) { w.Spec.DeleteOption = nil },
		"a strategy":   func(w *workv1.ManifestWork) { w.Spec.ManifestConfigs[1].UpdateStrategy.ServerSideApply.Force = true },
		"an executor":  func(w *workv1.ManifestWork) { w.Spec.Executor = &workv1.ManifestWorkExecutor{} },
	} {
		edited := work.DeepCopy()
		edit(edited)
		if hash, err := WorkHash(edited); err != nil || hash == work.Annotations[HashAnnotation] {
			t.Errorf("%s does not change the hash, %v", name, err)
		}
	}

	stored.Spec.Workload.Manifests[0].Raw = []byte(`{`)
	if _, err := WorkHash(stored); err == nil {
		t.Error("a manifest that is no JSON has a hash")
	}
}

// TestWorkIsDeterministic checks that equal objects have equal works, and that works of other replicas or clusters differ in nothing else.
func TestWorkIsDeterministic(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		values := rapid.MapOf(rapid.StringMatching(`[a-z]{1,3}`), rapid.String()).Draw(t, "data")
		replicas := rapid.Int32Range(0, 9).Draw(t, "replicas")
		works := map[string]bool{}
		for range 3 {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": jsonMap(maps.Clone(values)), "status": map[string]any{}}}
			object.SetNamespace("n")
			object.SetName("x")
			payload := NewPayload(kindOf("Deployment"), object)

			for _, cluster := range []string{"c1", "c2"} {
				work, err := payload.Work(cluster, Variant{Replicas: replicas, HasReplicas: true})
				if err != nil {
					t.Fatal(err)
				}
				work.Namespace = ""
				encoded, err := json.Marshal(work)
				works[string(encoded)] = err == nil
			}
		}

		if len(works) != 1 {
			t.Fatalf("%d different works", len(works))
		}
	})
}

func TestExcluded(t *testing.T) {
	for _, c := range []struct{ name, object, want string }{
		{"federated-selector F24: a token of a ServiceAccount",
			`{kind: Secret, metadata: {name: x}, type: kubernetes.io/service-account-token}`, "is a token of a ServiceAccount"},
		{"federated-selector 3.1.4: a bootstrap token", `{kind: Secret, metadata: {name: x}, type: bootstrap.kubernetes.io/token}`,
			"is a bootstrap token"},
		{"federated-selector 3.1.4: another Secret", `{kind: Secret, metadata: {name: x}, type: Opaque}`, ""},
		{"federated-selector 3.1.4: kube-root-ca.crt", `{kind: ConfigMap, metadata: {name: kube-root-ca.crt}}`,
			"every namespace of a member has its own"},
		{"federated-selector 3.1.4: a controller owner",
			`{kind: ReplicaSet, metadata: {name: x, ownerReferences: [{kind: Deployment, name: web, controller: true}]}}`,
			"is controlled by Deployment web"},
		{"federated-selector 3.1.4: an owner that is no controller",
			`{kind: ReplicaSet, metadata: {name: x, ownerReferences: [{kind: Deployment, name: web}]}}`, ""},
		{"federated-selector 3.1.4: a leader election",
			`{kind: ConfigMap, metadata: {name: x, annotations: {control-plane.alpha.kubernetes.io/leader: "{}"}}}`,
			"is the record of a leader election"},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := objectOf(t, c.object)
			if got := Excluded(kindOf(object.GetKind()), object); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}

	rental := FederatedKind{GroupVersionKind: schema.GroupVersionKind{Group: "rental.example.com", Version: "v1", Kind: "Lease"}}
	if got := Excluded(rental, objectOf(t, `{kind: Lease, metadata: {name: x}}`)); got != "" {
		t.Errorf("federated-selector 3.1.4: a kind of others with the name of one of Kubernetes: %q", got)
	}

	labels := map[string]string{FederatedLabel: "true"}
	for _, c := range []struct {
		name, namespace string
		labels          map[string]string
		ofCluster, out  bool
	}{
		{"federated-selector 3.1.4: opted in", "team-a", labels, false, false},
		{"federated-selector F24: not opted in", "team-a", nil, false, true},
		{"federated-selector 3.1.4: kube-system", "kube-system", labels, false, true},
		{"federated-selector 3.1.4: the hub's", "hub", labels, false, true},
		{"federated-selector 3.1.4: of a cluster", "c1", labels, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ExcludedNamespace(c.namespace, "hub", c.labels, c.ofCluster); (got != "") != c.out {
				t.Errorf("%q", got)
			}
		})
	}
}
