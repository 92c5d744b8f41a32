// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// docs/spec/differences.md B13: a plan is carried on while the object is as it was evaluated and the proof is young.
func TestPlansEnd(t *testing.T) {
	proved := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	evaluated := metav1.ObjectMeta{UID: "a", Generation: 1, ResourceVersion: "7", Annotations: map[string]string{"read": "1", "other": "1"}}
	ours := func(annotations map[string]string) map[string]string {
		return map[string]string{"read": annotations["read"]}
	}

	for _, c := range []struct {
		reason string
		change func(*metav1.ObjectMeta)
		age    time.Duration
		want   error
	}{
		{"nothing changed", func(*metav1.ObjectMeta) {}, Validity, nil},
		{"labels and status changed", func(m *metav1.ObjectMeta) { m.ResourceVersion, m.Labels = "8", map[string]string{"a": "b"} }, 0, nil},
		{"an annotation that is not read changed", func(m *metav1.ObjectMeta) { m.Annotations["other"] = "2" }, 0, nil},
		{"an annotation changed", func(m *metav1.ObjectMeta) { m.Annotations["read"] = "2" }, 0, ErrObjectChanged},
		{"the spec changed", func(m *metav1.ObjectMeta) { m.Generation = 2 }, 0, ErrObjectChanged},
		{"another object of the name", func(m *metav1.ObjectMeta) { m.UID = "b" }, 0, ErrObjectChanged},
		{"it is being deleted", func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &metav1.Time{} }, 0, ErrObjectChanged},
		{"the proof is old", func(*metav1.ObjectMeta) {}, Validity + 1, ErrProofExpired},
	} {
		latest, before := evaluated.DeepCopy(), evaluated.DeepCopy()
		c.change(latest)
		before.Annotations = ours(before.Annotations)
		got := Plan{Meta: before, Annotations: ours, ProvedAt: proved}.Proceed(latest, proved.Add(c.age))
		if !errors.Is(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.reason, got, c.want)
		}
	}

	gone, known := Plan{ProvedAt: proved}, Plan{Meta: &evaluated, ProvedAt: proved}
	for _, c := range []struct {
		reason string
		plan   Plan
		latest *metav1.ObjectMeta
		want   error
	}{
		{"it is gone still", gone, nil, nil}, {"it is there again", gone, &evaluated, ErrObjectChanged}, {"it went", known, nil, ErrObjectChanged},
	} {
		if got := c.plan.Proceed(c.latest, proved); !errors.Is(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.reason, got, c.want)
		}
	}
}
