// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/argocdrefresh"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

var (
	resource  = schema.GroupResource{Group: applicationSets.Group, Resource: "applicationsets"}
	forbidden = apierrors.NewForbidden(resource, "s", errors.New("denied by the policy"))
)

// world is an API server whose answers to patches a test decides.
type world struct {
	*controller
	// proofs and patches are the bodies of dry runs and of other patches.
	proofs, patches []string
	// answer is the answer to the next patches, proof that to dry runs.
	answer, proof error
}

// newWorld returns a controller that follows an ApplicationSet with the decisions of a Placement.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{proof: forbidden}
	set := emptyApplicationSet("argocd", "s")
	set.Object["spec"] = map[string]any{"generators": []any{map[string]any{"clusterDecisionResource": map[string]any{
		"configMapRef": "ocm", "name": "p-decision-1",
	}}}}
	api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(set, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "ocm"},
		Data:       map[string]string{"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "placementdecisions"},
	}).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			body, err := patch.Data(object)
			if err != nil {
				return err
			}
			var asked client.PatchOptions
			asked.ApplyOptions(options)
			if len(asked.DryRun) > 0 {
				w.proofs = append(w.proofs, string(body))
				return w.proof
			}
			w.patches = append(w.patches, string(body))
			return w.answer
		},
	}).Build()
	w.controller = &controller{
		Settings: Settings{Namespace: "argocd", Pace: NewPace(DefaultInterval), Clock: clock.RealClock{}}, reader: api, writer: api,
		changed: make(chan struct{}, 1), refresher: argocdrefresh.New(NewPace(DefaultInterval)), names: map[string]bool{},
	}
	live := &unstructured.Unstructured{Object: set.Object}
	live.SetResourceVersion("7")
	w.setChanged(nil, live, true)
	w.decisionChanged(nil, decision("c1"), true)
	return w
}

func decision(clusters ...string) *clusterv1beta1.PlacementDecision {
	object := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "p-decision-1"}}
	for _, cluster := range clusters {
		object.Status.Decisions = append(object.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return object
}

// valueOf returns the value of a counter.
func valueOf(t *testing.T, counter prometheus.Counter) float64 {
	t.Helper()
	var metric dto.Metric
	if err := counter.Write(&metric); err != nil {
		t.Fatal(err)
	}
	return metric.GetCounter().GetValue()
}

// run works for a time, as Start does, and returns the error that ends the process.
func (w *world) run(t *testing.T, most time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	for ctx.Err() == nil {
		wait, err := w.work(ctx)
		if err != nil {
			return err
		}
		w.sleep(ctx, wait)
	}
	return nil
}

// docs/spec/argocd-refresh.md AR4 and AR6: what a refresh writes, and when one that fails is tried again.
func TestRefreshes(t *testing.T) {
	const body = `{"metadata":{"annotations":{"argocd.argoproj.io/application-set-refresh":"true"},"resourceVersion":"7"}}`
	for _, tc := range []struct {
		reason string
		answer error
		// patches is how many are sent within 8 s: after 0.5, 1.5, 3.5 and 7.5 s where they fail.
		patches int
		counted prometheus.Counter
	}{
		{"it is written", nil, 1, metrics.ArgoCDRefreshOK},
		{"the ApplicationSet has changed", apierrors.NewConflict(resource, "s", errors.New("changed")), 4, metrics.ArgoCDRefreshOutdated},
		{"the API server fails", apierrors.NewInternalError(errors.New("etcd")), 4, metrics.ArgoCDRefreshError},
		{"the right is gone", forbidden, 4, metrics.ArgoCDRefreshError},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.answer = tc.answer
				before := valueOf(t, tc.counted)
				w.decisionChanged(nil, decision("c1", "c2"), false)
				if err := w.run(t, 8*time.Second); err != nil {
					t.Fatal(err)
				}
				var want []string
				for range tc.patches {
					want = append(want, body)
				}
				if diff := cmp.Diff(want, w.patches); diff != "" {
					t.Errorf("patches (-want +got):\n%s", diff)
				}
				if counted := valueOf(t, tc.counted) - before; counted != float64(tc.patches) {
					t.Errorf("the metric counts %v refreshes, want %d", counted, tc.patches)
				}
			})
		})
	}
}

// docs/spec/argocd-refresh.md AR10: when the proof is made, and what follows from its answers.
func TestProof(t *testing.T) {
	for _, tc := range []struct {
		reason          string
		proof           error
		most            time.Duration
		proofs, patches int
		err             error
		withoutAnySet   bool
	}{
		{reason: "it is refused", proof: forbidden, most: time.Minute, proofs: 1, patches: 1},
		{reason: "it is made again every hour", proof: forbidden, most: 150 * time.Minute, proofs: 3, patches: 1},
		{reason: "it is accepted", most: time.Minute, proofs: 1, err: ErrTooManyRights},
		{reason: "no answer refreshes nothing", proof: apierrors.NewInternalError(errors.New("etcd")), most: 25 * time.Second, proofs: 3},
		{reason: "without an ApplicationSet", withoutAnySet: true, most: time.Hour},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.proof = tc.proof
				if tc.withoutAnySet {
					w.setDeleted(emptyApplicationSet("argocd", "s"))
				}
				w.decisionChanged(nil, decision("c2"), false)
				err := w.run(t, tc.most)
				if !errors.Is(err, tc.err) {
					t.Errorf("error %v, want %v", err, tc.err)
				}
				if len(w.proofs) != tc.proofs || len(w.patches) != tc.patches {
					t.Errorf("%d dry runs and %d patches, want %d and %d", len(w.proofs), len(w.patches), tc.proofs, tc.patches)
				}
			})
		})
	}
}

// docs/spec/argocd-refresh.md AR2: the ConfigMap is read at the refresh.
func TestConfigMapOfAnotherKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		kind := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "ocm"}}
		if err := w.writer.Delete(t.Context(), kind); err != nil {
			t.Fatal(err)
		}
		w.decisionChanged(nil, decision("c2"), false)
		if err := w.run(t, time.Minute); err != nil || len(w.patches) > 0 {
			t.Errorf("%v; %d patches, want none", err, len(w.patches))
		}
	})
}
