package federation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// federated-selector F15, law 5: the finalizer comes first, then the gains, and then the losses. The object has annotations that the hub does
// not read, as kubectl apply leaves them.
func TestGainBeforeLoss(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	w.settle()
	same(t, "first", w.written(), "finalizers x, create eu1, create eu2")

	change(w, selecting("europe"), func(c *corev1.ConfigMap) { c.Annotations[federation.SelectorAnnotation] = selectorOf("usa") })
	w.settle()
	same(t, "then", w.written(), "create us1, delete eu1, delete eu2")
}
