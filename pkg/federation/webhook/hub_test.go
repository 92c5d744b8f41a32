// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// world is a hub with clusters in the set "members", which is bound to "team-a".
type world struct {
	inventory  *inventory.Inventory
	incomplete bool
	works      []string
	placements map[string]federation.Decisions
	replicas   int32
	err        error
	hub        Hub
}

var _ Reader = (*world)(nil)

func newWorld() *world {
	compiler := selector.NewCompiler()
	w := &world{inventory: inventory.New(compiler), placements: map[string]federation.Decisions{}}
	w.hub = Hub{
		Kinds: federation.DefaultKinds(), Namespace: "hub", Compiler: compiler, Reader: w, Clock: clocktesting.NewFakePassiveClock(epoch),
		Limits: federation.LimitsOf(removalbudget.Limit{}),
		Snapshot: func() *inventory.Snapshot {
			if w.incomplete {
				return nil
			}
			return w.inventory.Snapshot()
		},
	}
	w.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "members"}})
	w.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "members"},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "members"},
	})

	for name, location := range map[string]string{"eu1": "europe", "eu2": "europe", "eu3": "europe", "eu4": "europe", "us1": "usa"} {
		w.inventory.SetCluster(newCluster(name, map[string]string{clusterv1beta2.ClusterSetLabel: "members", "location": location}))
	}
	return w
}

func newCluster(name string, labels map[string]string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// emptyHub returns a hub without clusters.
func emptyHub() Hub {
	w := newWorld()
	w.inventory = inventory.New(w.hub.Compiler)
	return w.hub
}

func (w *world) NamespaceMeta(_ context.Context, name string) (*metav1.ObjectMeta, error) {
	return &metav1.ObjectMeta{Name: name, Labels: map[string]string{federation.FederatedLabel: "true"}}, w.err
}

func (w *world) Works(context.Context, federation.Identity) ([]federation.ExistingWork, error) {
	works := make([]federation.ExistingWork, 0, len(w.works))
	for _, cluster := range w.works {
		works = append(works, federation.ExistingWork{Cluster: cluster})
	}
	return works, w.err
}

func (w *world) Decisions(_ context.Context, placement types.NamespacedName) (federation.Decisions, error) {
	decisions, exists := w.placements[placement.Name]
	if !exists {
		return federation.DecisionsOf(nil, nil), w.err
	}
	return decisions, w.err
}

func (w *world) Placements(context.Context, string) ([]string, error) {
	var names []string
	for name := range w.placements {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, w.err
}

// review returns the response to the change of an object of team-a, or of team-a itself, from some annotations to others. Without former
// annotations the object is created.
func (w *world) review(tb testing.TB, kind string, before, after map[string]string) admission.Response {
	tb.Helper()
	encode := func(annotations map[string]string) runtime.RawExtension {
		object := appsv1.Deployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: kind},
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "x", Annotations: annotations},
			Spec:       appsv1.DeploymentSpec{Replicas: &w.replicas},
		}
		if kind == namespaceKind {
			object.Namespace, object.Name, object.Labels = "", "team-a", map[string]string{federation.FederatedLabel: "true"}
		}

		raw, err := json.Marshal(object)
		if err != nil {
			tb.Fatal(err)
		}
		return runtime.RawExtension{Raw: raw}
	}
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Kind: metav1.GroupVersionKind{Version: "v1", Kind: kind}, Object: encode(after),
	}}

	if kind == "Deployment" {
		request.Kind.Group = "apps"
	}
	if before != nil {
		request.Operation, request.OldObject = admissionv1.Update, encode(before)
	}
	response := Handlers(w.hub)[Path].Handle(tb.Context(), request)
	if !response.Allowed {
		tb.Errorf("denied: %v", response.Result)
	}
	return response
}

var errUnread = errors.New("the cache is not ready")
