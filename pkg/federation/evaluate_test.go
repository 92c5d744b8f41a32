// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// hub is the state of a hub for tests: the members of docs/spec/federated-selector.md, in the set "members" that is bound to "team-a".
type hub struct {
	compiler  *selector.Compiler
	inventory *inventory.Inventory
	namespace *metav1.ObjectMeta
	works     []ExistingWork
	users     Users
	decisions map[string]Decisions
	reached   map[Dependency][]string
}

func newHub() *hub {
	compiler := selector.NewCompiler()
	h := &hub{
		compiler: compiler, inventory: inventory.New(compiler),
		namespace: &metav1.ObjectMeta{Name: "team-a", Labels: map[string]string{FederatedLabel: "true"}},
	}
	h.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "members"}})
	h.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "members"},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "members"},
	})

	for name, labels := range map[string]map[string]string{
		"eu1": {"location": "europe", "environment": "prod", "version": "15", "load": "3"},
		"eu2": {"location": "europe", "environment": "test", "version": "9"},
		"us1": {"location": "usa", "environment": "prod"},
	} {
		h.cluster(name, labels)
	}
	return h
}

func (h *hub) cluster(name string, labels map[string]string, taints ...clusterv1.Taint) {
	labels[clusterv1beta2.ClusterSetLabel] = "members"
	h.inventory.SetCluster(&clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       clusterv1.ManagedClusterSpec{Taints: taints},
		Status: clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{
			{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue},
		}},
	})
}

// leaveSet takes a cluster out of its set.
func (h *hub) leaveSet(name string) {
	h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

func (h *hub) view() View {
	return View{
		Compiler: h.compiler, Namespace: h.namespace, HubNamespace: "hub", Works: h.works, Users: h.users,
		Snapshot:  func(*scheduling.Request) *inventory.Snapshot { return h.inventory.Snapshot() },
		Decisions: func(name string) Decisions { return h.decisions[name] },
		Reached: func(d Dependency) ([]string, bool) {
			clusters, known := h.reached[d]
			return clusters, known
		},
	}
}

func (h *hub) evaluate(object Object) *Evaluation { return Evaluate(object, h.view(), epoch) }

func configMap(annotations map[string]string) Object {
	return Object{
		Kind: kindOf(kindConfigMap), Meta: metav1.ObjectMeta{Namespace: "team-a", Name: "x", Annotations: annotations}, Body: Body{Digest: "d1"},
	}
}

func withWorks(clusters ...string) []ExistingWork {
	works := make([]ExistingWork, 0, len(clusters))
	for _, cluster := range clusters {
		works = append(works, ExistingWork{Cluster: cluster, Hash: "h"})
	}
	return works
}

func TestEvaluateSelects(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        []string
	}{
		{"federated-selector F2", `[{"key":"location","operator":"in","values":["europe"]},{"key":"environment","operator":"==","values":["prod"]}]`,
			[]string{"eu1"}},
		{"federated-selector F3", `[]`, []string{"eu1", "eu2", "us1"}},
		{"federated-selector F4", `[{"key":"version","operator":">","values":["14"]}]`, []string{"eu1"}},
		{"federated-selector F5", `[{"key":"version","operator":"Gt","values":["15"]}]`, []string{}},
		{"federated-selector F6", `[{"key":"version","operator":"Lt","values":["15"]}]`, []string{"eu2"}},
		{"federated-selector F7", `[{"key":"location","operator":"Gt","values":["1"]}]`, []string{}},
		{"federated-selector F8", `[{"key":"load","operator":"!=","values":["3"]}]`, []string{"eu2", "us1"}},
		{"federated-selector F9", `[{"key":"load","operator":"notin","values":["3"]}]`, []string{"eu2", "us1"}},
		{"federated-selector F10", `[{"key":"load","operator":"!"}]`, []string{"eu2", "us1"}},
		{"federated-selector F11", `[{"key":"version","operator":"Gt","values":["8"]},{"key":"version","operator":"Lt","values":["10"]}]`,
			[]string{"eu2"}},
		{"federated-selector F25", ControlPlaneOnly, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newHub().evaluate(configMap(map[string]string{SelectorAnnotation: c.value}))
			if diff := cmp.Diff(c.want, e.Selected); e.State != Delivering || diff != "" {
				t.Errorf("%s %s: %s", e.State, e.Message, diff)
			}
		})
	}

	if e := newHub().evaluate(configMap(nil)); len(e.Selected) != 3 {
		t.Errorf("federated-selector F1: %v", e.Selected)
	}
}

func TestEvaluateStates(t *testing.T) {
	deletion := metav1.NewTime(epoch)
	for _, c := range []struct {
		name   string
		edit   func(*hub, *Object)
		state  State
		reason string
	}{
		{"federated-selector F14: an invalid selector holds the works", func(_ *hub, o *Object) {
			o.Meta.Annotations = map[string]string{SelectorAnnotation: "{"}
		}, Held, ReasonClusterSelectorInvalid},
		{"an unknown annotation", func(_ *hub, o *Object) {
			o.Meta.Annotations = map[string]string{"federation.kubernetes.io/cluster-selector": "[]"}
		}, Held, ReasonClusterSelectorInvalid},
		{"federated-selector F38: both annotations", func(_ *hub, o *Object) {
			o.Meta.Annotations = map[string]string{SelectorAnnotation: "[]", PlacementAnnotation: "p"}
		}, Held, ReasonClusterSelectorInvalid},
		{"federated-selector F38: a missing Placement", func(h *hub, o *Object) {
			o.Meta.Annotations = map[string]string{PlacementAnnotation: "p"}
			h.decisions = map[string]Decisions{"p": {Problem: "does not exist"}}
		}, Held, ""},
		{"issue 26, P9: a misspelt Placement", func(h *hub, o *Object) {
			o.Meta.Annotations = map[string]string{PlacementAnnotation: "canray"}
			h.decisions = map[string]Decisions{"canray": MissingPlacement("canray", []string{"web", "canary"})}
		}, Held, ReasonClusterSelectorInvalid},
		{"federated-selector F24: a namespace that has not opted in", func(h *hub, _ *Object) {
			h.namespace.Labels, h.works = nil, nil
		}, NotDelivered, ""},
		{"federated-selector 3.1.4: a namespace that has opted out", func(h *hub, _ *Object) {
			h.namespace.Labels = nil
		}, Suspended, ReasonFederationSuspended},
		{"federated-selector 3.1.4: an invalid selector in a namespace that has opted out", func(h *hub, o *Object) {
			h.namespace.Labels = nil
			o.Meta.Annotations = map[string]string{SelectorAnnotation: "{"}
		}, Suspended, ReasonFederationSuspended},
		{"federated-selector F24: a token of a ServiceAccount", func(h *hub, o *Object) {
			h.works = nil
			o.Body.Excluded = "is a token of a ServiceAccount"
		}, NotDelivered, ""},
		{"federated-selector 3.1.4: an object that got a controller", func(_ *hub, o *Object) {
			o.Body.Excluded = "is controlled by Deployment web"
		}, Held, ""},
		{"federated-selector 3.1.4: a Namespace that is not known", func(h *hub, _ *Object) { h.namespace = nil }, Held, ""},
		{"law 6: a broken set", func(h *hub, _ *Object) {
			h.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{
				ObjectMeta: metav1.ObjectMeta{Name: "members"},
				Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{
					SelectorType:  clusterv1beta2.LabelSelector,
					LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "x"}}},
				}},
			})
		}, Held, ""},
		{"an object with a field that cannot be delivered", func(_ *hub, o *Object) { o.Body.Mistake = "spec.replicas is no number" },
			Held, ReasonDeliveryFailed},
		{"federated-selector F20: an object that is being deleted", func(h *hub, o *Object) {
			o.Meta.DeletionTimestamp = &deletion
			h.namespace = nil
		}, Deleting, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, object := newHub(), configMap(nil)
			h.works = withWorks("eu1", "us1")
			c.edit(h, &object)
			e := h.evaluate(object)
			if e.State != c.state || e.Reason != c.reason || e.Message == "" || len(e.Selected) > 0 {
				t.Errorf("%s, %q, %q, %v", e.State, e.Reason, e.Message, e.Selected)
			}
		})
	}
}

// Objects that come from Federation v1 have annotations that hold nothing.
func TestAnnotationsOfFederationV1AloneHoldNothing(t *testing.T) {
	h, object := newHub(), configMap(nil)
	for _, name := range formerAnnotations {
		object.Meta.Annotations = map[string]string{name: "{}"}
		if e := h.evaluate(object); e.State != Delivering {
			t.Errorf("%s: %s, %s", name, e.State, e.Message)
		}
	}
}

func TestEvaluateByPlacement(t *testing.T) {
	h := newHub()
	h.namespace.Annotations = map[string]string{PlacementAnnotation: "p"}
	h.decisions = map[string]Decisions{"p": {Clusters: []string{"us1"}}}
	if diff := cmp.Diff([]string{"us1"}, h.evaluate(configMap(nil)).Selected); diff != "" {
		t.Errorf("federated-selector F38: the default of the Namespace: %s", diff)
	}
	own := h.evaluate(configMap(map[string]string{SelectorAnnotation: `[{"key":"load","operator":"Exists"}]`}))
	if diff := cmp.Diff([]string{"eu1"}, own.Selected); diff != "" {
		t.Errorf("federated-selector F38: the selector of the object wins: %s", diff)
	}
}

func TestEvaluateTolerates(t *testing.T) {
	h := newHub()
	h.cluster("eu1", map[string]string{}, clusterv1.Taint{Key: clusterv1.ManagedClusterTaintUnreachable, Effect: clusterv1.TaintEffectNoSelect})
	h.cluster("eu2", map[string]string{}, clusterv1.Taint{Key: TerminatingTaint, Effect: clusterv1.TaintEffectNoSelect})
	if diff := cmp.Diff([]string{"eu1", "us1"}, h.evaluate(configMap(nil)).Selected); diff != "" {
		t.Errorf("federated-selector 3.1.4: %s", diff)
	}
}

func deployment9() Object {
	return Object{
		Kind: kindOf(kindDeployment), Meta: metav1.ObjectMeta{Namespace: "team-a", Name: "web", Generation: 4, Annotations: map[string]string{}},
		Body: Body{Replicas: 9, Dependencies: []Dependency{{kindConfigMap, "settings"}, {kindServiceAccount, "robot"}}},
	}
}

func TestEvaluateReplicas(t *testing.T) {
	h, object := newHub(), deployment9()
	object.Meta.Annotations[DeploymentPreferencesAnnotation] = `{"clusters":{"eu1":{"weight":2},"eu2":{"weight":1}}}`
	if diff := cmp.Diff(map[string]int32{"eu1": 6, "eu2": 3, "us1": 0}, h.evaluate(object).Replicas); diff != "" {
		t.Errorf("federated-selector F27: %s", diff)
	}
	h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "eu2", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "members"},
	}})
	h.works = []ExistingWork{{Cluster: "eu2", Replicas: 1}}

	if got := h.evaluate(object).Replicas["eu2"]; got != 1 {
		t.Errorf("federated-selector 3.1.6: a cluster that is not available has %d replicas", got)
	}
	object.Meta.Annotations[DeploymentPreferencesAnnotation] = `{`
	if e := h.evaluate(object); e.State != Held || e.Reason != ReasonClusterSelectorInvalid || len(e.Selected) > 0 {
		t.Errorf("federated-selector 3.1.6: %s %s %v", e.State, e.Reason, e.Selected)
	}
}

// The controller subscribes with the request of an object: that of a workload reads whether clusters are available, whatever selects them.
func TestWorkloadsReadAvailability(t *testing.T) {
	for _, tc := range []struct {
		reason      string
		annotations map[string]string
		deleted     bool
	}{
		{reason: "no selector"},
		{reason: "a Placement", annotations: map[string]string{PlacementAnnotation: "p"}},
		{reason: "an invalid selector", annotations: map[string]string{SelectorAnnotation: "{"}},
		{reason: "the object is being deleted", deleted: true},
	} {
		for kind, want := range map[string]bool{kindDeployment: true, kindReplicaSet: true, kindConfigMap: false} {
			var request *scheduling.Request
			h := newHub()
			view := h.view()
			view.Snapshot = func(asked *scheduling.Request) *inventory.Snapshot {
				request = asked
				return h.inventory.Snapshot()
			}
			object := configMap(tc.annotations)
			object.Kind = kindOf(kind)
			if tc.deleted {
				object.Meta.DeletionTimestamp = &metav1.Time{Time: epoch}
			}
			Evaluate(object, view, epoch)
			if request.Availability != want || request.Key != object.Key() {
				t.Errorf("%s, %s: the request of %v reads availability: %v", tc.reason, kind, request.Key, request.Availability)
			}
		}
	}
}

func TestEvaluateDependencies(t *testing.T) {
	h, object := newHub(), deployment9()
	h.reached = map[Dependency][]string{{kindConfigMap, "settings"}: {"eu1", "eu2"}, {kindServiceAccount, "robot"}: nil}

	want := []MissingDependency{
		{Dependency{kindConfigMap, "settings"}, []string{"us1"}},
		{Dependency{kindServiceAccount, "robot"}, []string{"eu1", "eu2", "us1"}},
	}
	if diff := cmp.Diff(want, h.evaluate(object).Missing); diff != "" {
		t.Errorf("federated-selector F33: %s", diff)
	}
	object.Meta.Annotations[PropagateDependenciesAnnotation] = "true"

	e := h.evaluate(object)
	if diff := cmp.Diff(want[:1], e.Missing); diff != "" || e.Variant("eu1").ServiceAccount != "robot" {
		t.Errorf("federated-selector F33: the ServiceAccount is created with the workload: %s", diff)
	}
	if e.Pending() {
		t.Error("the evaluation waits for a dependency although all are known")
	}
	h.users.Pending = "Deployment.apps/team-a/web"
	if !h.evaluate(configMap(nil)).Pending() {
		t.Error("the evaluation does not wait for a workload that may need the object")
	}
	h.reached = nil
	if e := h.evaluate(object); len(e.Missing) > 0 || !e.Pending() {
		t.Errorf("federated-selector F33: a dependency that is not known yet is missing: %v", e.Missing)
	}

	h.users = Users{Clusters: []string{"us1", "eu1"}}
	settings := h.evaluate(configMap(map[string]string{SelectorAnnotation: `[{"key":"location","operator":"=","values":["europe"]}]`}))
	if diff := cmp.Diff([]string{"eu1", "eu2", "us1"}, settings.Selected); diff != "" || !cmp.Equal(settings.Propagated, []string{"us1"}) {
		t.Errorf("federated-selector F33: %v, %s", settings.Propagated, diff)
	}
}

func TestPlanOfEvaluation(t *testing.T) {
	h := newHub()
	h.works = []ExistingWork{{Cluster: "eu1", Hash: "6", Replicas: 6}, {Cluster: "us1", Hash: "3", Replicas: 3}, {Cluster: "gone"}}
	object := deployment9()
	object.Meta.Annotations[DeploymentPreferencesAnnotation] = `{"rebalance":true,"clusters":{"eu1":{"weight":1},"eu2":{"weight":2}}}`
	plan, err := h.evaluate(object).Plan(func(v Variant) (string, error) { return strconv.Itoa(int(v.Replicas)), nil })
	want := WorkPlan{Gain: []string{"eu2"}, Reduce: []string{"eu1", "us1"}, Lose: []string{"gone"}}
	if diff := cmp.Diff(want, plan); err != nil || diff != "" {
		t.Error(err, diff)
	}

	h.works = append(h.works, ExistingWork{Cluster: "foreign", Foreign: true}, ExistingWork{Cluster: "leaves", Deleting: true})
	plan, err = h.evaluate(object).Plan(func(Variant) (string, error) { return "", &TooLargeError{Size: MaxPayload + 1} })
	if diff := cmp.Diff(WorkPlan{Lose: []string{"gone"}}, plan); !errors.As(err, new(*TooLargeError)) || diff != "" {
		t.Errorf("trust T10: an object that is too large leaves clusters that are out of scope alone: %v, %s", err, diff)
	}
}

func TestBodyOf(t *testing.T) {
	body, _ := BodyOf(kindOf(kindDeployment), objectOf(t, deployment))
	if body.Mistake != "" || body.Replicas != 9 || len(body.Digest) != digestLength {
		t.Errorf("%+v", body)
	}
	released := objectOf(t, deployment)
	released.SetAnnotations(map[string]string{"team": "a", removalbudget.ReleaseAnnotation: body.Digest})
	if again, _ := BodyOf(kindOf(kindDeployment), released); again.Digest != body.Digest {
		t.Errorf("federated-selector F40: the release changes what members get: %+v", again)
	}

	one := objectOf(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {}}`)
	for kind, want := range map[string]int32{kindDeployment: 1, kindReplicaSet: 1, kindDaemonSet: 0, kindConfigMap: 0} {
		if body, _ := BodyOf(kindOf(kind), one); body.Replicas != want || body.Mistake != "" {
			t.Errorf("%s: %d replicas without the field, want %d: %s", kind, body.Replicas, want, body.Mistake)
		}
	}
	for field, spec := range map[string]string{".spec.replicas": `{replicas: x}`, "spec.template.spec": `{template: {spec: {volumes: 1}}}`} {
		wrong := objectOf(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: `+spec+`}`)
		body, _ := BodyOf(kindOf(kindDeployment), wrong)
		if !strings.Contains(body.Mistake, field) {
			t.Errorf("the mistake %q does not name %s", body.Mistake, field)
		}
	}
}
