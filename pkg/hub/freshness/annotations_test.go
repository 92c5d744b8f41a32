// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"testing"
	"testing/synctest"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
)

// federated-selector 3.1.4: an object whose annotations are evaluated in part, such as one that kubectl has applied, can be proved.
func TestOnlyEvaluatedAnnotationsAreCompared(t *testing.T) {
	evaluated := func(annotations map[string]string) map[string]string {
		if value, found := annotations["evaluated"]; found {
			return map[string]string{"evaluated": value}
		}
		return nil
	}

	for _, tc := range []struct {
		reason string
		live   map[string]string
		want   string
	}{
		{"another annotation", map[string]string{"evaluated": "a", "other": "b"}, "proved"},
		{"an evaluated annotation", map[string]string{"evaluated": "b", "other": "b"}, freshness.ErrObjectChanged.Error()},
		{"without the evaluated annotation", map[string]string{"other": "b"}, freshness.ErrObjectChanged.Error()},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				removal := s.removal(1)
				removal.Annotations = evaluated
				removal.Meta.Annotations = map[string]string{"evaluated": "a"}

				p := s.put(removal.Object, 1)
				meta := s.objects[p]
				meta.Annotations = tc.live
				s.objects[p] = meta
				s.see(p)
				if got := s.prove(t, removal); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// B15: an object that has unreadable fields in its status is the evaluated one, whether its annotations are evaluated in part or not.
func TestTheMarkOfUnreadableFieldsIsNotCompared(t *testing.T) {
	for _, live := range []map[string]string{{"a": "b"}, {"a": "b", unreadable.Annotation: "of a client"}} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			removal := s.removal(1)
			removal.Meta.Annotations = map[string]string{"a": "b", unreadable.Annotation: "[]"}

			p := s.put(removal.Object, 1)
			meta := s.objects[p]
			meta.Annotations = live
			s.objects[p] = meta
			s.see(p)
			if got := s.prove(t, removal); got != "proved" {
				t.Errorf("got %q for %v", got, live)
			}
		})
	}
}
