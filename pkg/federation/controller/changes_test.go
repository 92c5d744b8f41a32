// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// T16: after a restart no Event repeats a problem, unless the object, its Placement or a binding was changed after the last renewal of the former
// leader. Problems that arise later have Events.
func TestARestartRepeatsNoProblem(t *testing.T) {
	renewed := epoch.Add(-time.Minute)
	before, after := metav1.NewTime(renewed.Add(-time.Hour)), metav1.NewTime(renewed.Add(time.Second))
	object := func(created metav1.Time, annotation string) *corev1.ConfigMap {
		configMap := selecting("")
		configMap.CreationTimestamp = created
		configMap.Annotations = map[string]string{annotation: "["}
		return configMap
	}
	const invalid = "Warning ClusterSelectorInvalid"

	for _, c := range []struct {
		reason  string
		objects []client.Object
		want    int
	}{
		{"a selector of before", []client.Object{object(before, federation.SelectorAnnotation)}, 0},
		{"a selector of after", []client.Object{object(after, federation.SelectorAnnotation)}, 1},
		{"a binding of after", []client.Object{
			object(before, federation.SelectorAnnotation),
			&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "new", CreationTimestamp: after}},
		}, 1},
		{"a Placement of another object", []client.Object{
			object(before, federation.SelectorAnnotation),
			&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "p", CreationTimestamp: after}},
		}, 0},
	} {
		t.Run(c.reason, func(t *testing.T) {
			w := newWorld(t, c.objects...)
			w.formerRenewal = renewed
			w.settle()
			told := w.told()
			if len(told) != c.want {
				t.Errorf("told %q, want %d", told, c.want)
			}

			change(w, selecting(""), func(configMap *corev1.ConfigMap) {
				configMap.Annotations[federation.SelectorAnnotation] = "null"
			})
			w.settle()
			if told := w.told(); len(told) != 1 || !strings.HasPrefix(told[0], invalid) {
				t.Errorf("a later problem: told %q", told)
			}
		})
	}
}

// T16: dependencies that the hub does not know yet when it looks at a workload first are no new problem of it.
func TestARestartRepeatsNoMissingDependency(t *testing.T) {
	for _, renewed := range []time.Time{{}, epoch.Add(-time.Minute)} {
		workload := user("usa")
		delete(workload.Annotations, federation.PropagateDependenciesAnnotation)
		w := newWorld(t, workload, selecting("europe"))
		w.formerRenewal = renewed
		_, err := w.reconcileOnce(keyOfUser)
		w.check(err)
		w.settle()
		missing := 0

		for _, event := range w.told() {
			if strings.HasPrefix(event, "Warning DependenciesMissing") {
				missing++
			}
		}
		if want := map[bool]int{true: 1, false: 0}[renewed.IsZero()]; missing != want {
			t.Errorf("renewed at %v: %d Events, want %d", renewed, missing, want)
		}
	}
}
