// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// counting counts the objects that are read.
type counting struct {
	client.Reader

	reads int
}

func (c *counting) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	c.reads++
	return c.Reader.Get(ctx, key, object, options...)
}

// controlled makes a Deployment the controller of a ConfigMap.
func controlled(c *corev1.ConfigMap) {
	c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "w", Controller: ptr.To(true)}}
}

// federated-selector 3.1.4: an object that its metadata excludes is not read from the API server, however often it changes.
func TestAnExcludedObjectIsNotRead(t *testing.T) {
	for reason, exclude := range map[string]func(*corev1.ConfigMap){
		"a controller":      controlled,
		"a leader election": func(c *corev1.ConfigMap) { c.Annotations["control-plane.alpha.kubernetes.io/leader"] = "{}" },
	} {
		t.Run(reason, func(t *testing.T) {
			object := selecting("europe")
			exclude(object)
			w := newWorld(t, object)
			live := &counting{Reader: w.store}
			w.live = live
			w.settle()
			for i := range 5 {
				change(w, selecting(""), func(c *corev1.ConfigMap) { c.Data["changed"] = strconv.Itoa(i) })
				w.settle()
			}

			same(t, "clusters", w.clusters(), "")
			if live.reads != 0 {
				t.Errorf("it is read %d times", live.reads)
			}
			change(w, selecting(""), func(c *corev1.ConfigMap) {
				c.OwnerReferences = nil
				delete(c.Annotations, "control-plane.alpha.kubernetes.io/leader")
			})
			w.settle()
			same(t, "clusters of an object that is not excluded any more", w.clusters(), "eu1 eu2")

			change(w, selecting(""), exclude)
			w.settle()
			w.selectLocation("usa")
			w.settle()
			same(t, "clusters of an object that is excluded again", w.clusters(), "eu1 eu2")
		})
	}
}
