// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// user returns a Deployment that needs the ConfigMap x and propagates it, with a selector for the clusters of a location.
func user(location string) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "web", UID: "web", Annotations: map[string]string{
			federation.SelectorAnnotation: selectorOf(location), federation.PropagateDependenciesAnnotation: "true",
		}},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", EnvFrom: []corev1.EnvFromSource{{
				ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "x"}},
			}}}}},
		}},
	}
}

var keyOfUser = inventory.Key{GroupKind: "Deployment.apps", NamespacedName: types.NamespacedName{Namespace: namespaceName, Name: "web"}}

// federated-selector 3.2, F34: a set that is unbound and bound again does not take a dependency away from the workload that keeps it, whichever of
// them is evaluated first.
func TestADependencyStaysWhenItsSetIsBoundAgain(t *testing.T) {
	for name, first := range map[string]inventory.Key{"the dependency first": keyOfConfigMap("x"), "the user first": keyOfUser} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, selecting("europe"), user("usa"))
			w.settle()
			same(t, "clusters", w.clusters(), "eu1 eu2 us1 us1") //nolint:dupword // One work of each object.

			w.check(w.store.Delete(t.Context(), members()))
			w.settle()
			w.written()
			w.check(w.store.Create(t.Context(), members()))
			w.show()
			_, err := w.reconcileOnce(first)
			w.check(err)
			w.settle()

			same(t, "writes", w.written(), "")
		})
	}
}

// federated-selector 3.2: a dependency stays as long as the removal budget keeps its user, and goes after it.
func TestADependencyStaysWithItsUser(t *testing.T) {
	held := user("usa")
	held.Annotations[removalbudget.PercentAnnotation] = "0"
	w := newWorld(t, selecting("europe"), held)
	w.settle()
	w.written()

	change(w, member("us1", map[string]string{}), func(c *clusterv1.ManagedCluster) { c.Labels["location"] = "asia" })
	w.settle()
	w.time.SetTime(w.time.Now().Add(time.Minute))
	w.settle()
	same(t, "writes while the user is held", w.written(), "")

	change(w, user(""), func(d *appsv1.Deployment) { delete(d.Annotations, removalbudget.PercentAnnotation) })
	w.settle()
	same(t, "writes when it is released", w.written(), "delete us1, delete us1")
	same(t, "clusters", w.clusters(), "eu1 eu2")
}
