// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// federated-selector 3.1.4: a write that the API server refuses is told once, with what to do, and again when the answer changes; other errors
// are retried without an Event.
func TestRefusedWritesAreTold(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	name := w.state.identity(keyOfConfigMap("x")).WorkName()
	resource := schema.GroupResource{Resource: "manifestworks"}
	answer := func(err error) []string {
		t.Helper()
		w.fail = func(_, cluster string) error {
			if cluster == "eu2" {
				return err
			}
			return nil
		}

		for range 3 {
			if _, failed := w.reconcileOnce(keyOfConfigMap("x")); !errors.Is(failed, err) {
				t.Errorf("got %v, want %v", failed, err)
			}
		}
		return w.told()
	}
	note := func(err error) string {
		return fmt.Sprintf("Warning DeliveryFailed: the API server refuses ManifestWork eu2/%s: %v; "+
			"clusters in scope keep their copies for at most 5m0s. "+
			"Grant the hub the right, or correct the object, quota or policy that the message names; the hub tries again", name, err)
	}

	w.show()
	quota := apierrors.NewForbidden(resource, name, errors.New("exceeded quota"))
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ManifestWork"}, name, field.ErrorList{field.Required(field.NewPath("spec"), "")})
	for _, tc := range []struct {
		reason string
		err    error
		want   string
	}{
		{"403", quota, fmt.Sprint([]string{"Normal Delivered: Written for clusters eu1 (matches location in (europe))", note(quota)})},
		{"422", invalid, fmt.Sprint([]string{note(invalid)})},
		{"an error that may end by itself", apierrors.NewInternalError(errors.New("etcd")), "[]"},
	} {
		same(t, tc.reason, fmt.Sprint(answer(tc.err)), tc.want)
	}

	w.fail = func(string, string) error { return nil }
	if _, err := w.reconcileOnce(keyOfConfigMap("x")); err != nil {
		t.Error(err)
	}
	same(t, "clusters", w.clusters(), "eu1 eu2")
}

// federated-selector 3.1.4, 3.1.5: an Event tells of a removal that the API server refuses, once for each answer: of the works of an
// object that leaves a cluster or is deleted, of the delete option before it, and of the finalizer after it.
func TestRefusedRemovalsAreTold(t *testing.T) {
	refused := func(message string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "manifestworks"}, "x", errors.New(message))
	}
	note := func(what string, err error) string {
		return fmt.Sprintf("Warning DeliveryFailed: the API server refuses %s: %v. Grant the hub the right, or correct the webhook or policy that "+
			"the message names; the hub tries again", what, err)
	}
	remove := func(t *testing.T, w *world) { t.Helper(); w.check(w.store.Delete(t.Context(), selecting(""))) }
	work := "ManifestWork eu2/" + newWorld(t).state.identity(keyOfConfigMap("x")).WorkName()
	for _, tc := range []struct {
		reason string
		change func(t *testing.T, w *world)
		verb   string
		what   string
	}{
		{"a cluster is not selected any more", func(t *testing.T, w *world) {
			t.Helper()
			change(w, member("eu2", map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = "asia" })
		}, "delete", "the deletion of " + work},
		{"the object is deleted", remove, "delete", "the deletion of " + work},
		{"the object is deleted, and its copies stay", func(t *testing.T, w *world) {
			t.Helper()
			change(w, selecting(""), func(c *corev1.ConfigMap) { c.Annotations[federation.OrphanAnnotation] = "true" })
			remove(t, w)
		}, "patch", "a change of " + work + " before it is deleted"},
		{
			"the copies have gone", remove, "finalizers x",
			"the removal of the finalizer " + federation.Finalizer + ": changing the finalizers of ConfigMap/team-a/x",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, selecting("europe"))
			w.settle()
			tc.change(t, w)
			w.told()
			w.show()

			for _, err := range []error{
				refused("no right"), apierrors.NewBadRequest("admission webhook denied the request"), apierrors.NewInternalError(errors.New("etcd")),
			} {
				w.fail = func(verb, cluster string) error {
					if verb == tc.verb && cluster != "eu1" {
						return err
					}
					return nil
				}

				for range 3 {
					if _, failed := w.reconcileOnce(keyOfConfigMap("x")); !errors.Is(failed, err) {
						t.Errorf("got %v, want %v", failed, err)
					}
				}
				var want []string
				if isRefusal(err) {
					want = []string{note(tc.what, err)}
				}

				told := slices.DeleteFunc(w.told(), func(event string) bool { return strings.HasPrefix(event, "Normal ") })
				if !slices.Equal(told, want) {
					t.Errorf("after %v got events %q, want %q", err, told, want)
				}
			}
		})
	}
}

// federated-selector 3.1.4: a finalizer that the hub may not set is told too, and no work is written without it.
func TestRefusedFinalizerIsTold(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", errors.New("no right"))
	w.fail = func(string, string) error { return refused }
	w.show()
	if _, err := w.reconcileOnce(keyOfConfigMap("x")); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	same(t, "clusters", w.clusters(), "")

	if told := w.told(); len(told) != 1 {
		t.Errorf("got events %q", told)
	}
}

// federated-selector 3.1.4: works of kinds that are not delivered any more are counted, and none of others.
func TestLeftovers(t *testing.T) {
	work := func(cluster, name, of string) client.Object {
		return &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster, Name: name, Annotations: map[string]string{federation.ObjectAnnotation: of},
		}}
	}
	w := newWorld(t,
		work("eu1", "fed-cronjob-1", "CronJob.batch/team-a/x"), work("eu2", "fed-cronjob-1", "CronJob.batch/team-a/x"),
		work("eu1", "fed-job-1", "Job.batch/team-a/y"), work("eu1", "fed-configmap-1", "ConfigMap/team-a/z"), work("eu1", "other", "?"))

	counts, err := w.state.leftovers(t.Context(), w.handlers.cache)
	w.check(err)
	if want := map[string]int{"CronJob.batch": 2, "Job.batch": 1}; !maps.Equal(counts, want) {
		t.Errorf("got %v, want %v", counts, want)
	}
}

// Issue 26, P9: the Event about a misspelt Placement names the one that may be meant. A Placement that is still to come has none.
func TestMisspeltPlacementIsTold(t *testing.T) {
	placement := func(name string) client.Object {
		return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
	}
	object := selecting("europe")
	object.Annotations = map[string]string{federation.PlacementAnnotation: "canray"}

	for _, tc := range []struct {
		reason, other, want string
	}{
		{"nothing is similar", "web", "[]"},
		{
			"a similar name", "canary", "[Warning ClusterSelectorInvalid: the Placement canray of the annotation " +
				"placement.open-cluster-management.io/placement does not exist in namespace team-a; did you mean canary? " +
				"Correct the annotation, or create the Placement; works stay as they are until then]",
		},
	} {
		w := newWorld(t, object.DeepCopy(), placement(tc.other))
		w.show()
		for range 2 {
			_, err := w.reconcileOnce(keyOfConfigMap("x"))
			w.check(err)
		}
		same(t, tc.reason, fmt.Sprint(w.told()), tc.want)
	}
}
