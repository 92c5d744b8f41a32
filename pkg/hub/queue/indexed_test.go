// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
)

// An event enqueues the objects that name the object of the event, once each, and no others.
func TestIndexedEnqueuesWhatNamesAnObject(t *testing.T) {
	const index = "spec.secret"

	naming := func(name, secret string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: name}, Data: map[string]string{"secret": secret}}
	}
	cached := fake.NewClientBuilder().WithScheme(scheme.New()).
		WithObjects(naming("x", "a/one"), naming("y", "a/two"), naming("z", "a/one")).
		WithIndex(&corev1.ConfigMap{}, index, func(object client.Object) []string {
			configMap, is := object.(*corev1.ConfigMap)
			if !is {
				return nil
			}
			return []string{configMap.Data["secret"]}
		}).Build()

	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	handle := Indexed[corev1.ConfigMapList](cached, index)
	for _, name := range []string{"one", "one", "three"} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}}
		handle.Create(t.Context(), event.CreateEvent{Object: secret}, queue)
	}
	var got []string

	for queue.Len() > 0 {
		request, _ := queue.Get()
		queue.Done(request)
		got = append(got, request.String())
	}
	slices.Sort(got)
	if want := []string{"b/x", "b/z"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
