// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVerify(t *testing.T) {
	zone := Constraints{NodeSelector: map[string]string{"topology.kubernetes.io/zone": "dc1"}}
	both := Constraints{NodeSelector: map[string]string{"b": "2", "a": "1"}}
	cases := []struct {
		reason      string
		constraints Constraints
		selector    map[string]string
		want        []Missing
	}{
		{"affinity-class A9: the label is there", zone, map[string]string{"topology.kubernetes.io/zone": "dc1"}, nil},
		{"affinity-class A10, A13: there is no nodeSelector, whatever the affinity says", zone, nil, []Missing{{"topology.kubernetes.io/zone",
			"dc1"}}},
		{"affinity-class A11: the label has another value", zone, map[string]string{"topology.kubernetes.io/zone": "dc2"},
			[]Missing{{"topology.kubernetes.io/zone", "dc1"}}},
		{"affinity-class A12: more labels are fine", zone, map[string]string{"topology.kubernetes.io/zone": "dc1", "disk": "ssd"}, nil},
		{"affinity-class 1.4: an empty value is one", Constraints{NodeSelector: map[string]string{"a": ""}}, nil, []Missing{{"a", ""}}},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.constraints.Verify(c.selector)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("affinity-class A14: the keys are sorted, in each of 50 runs", func(t *testing.T) {
		for range 50 {
			if diff := cmp.Diff([]Missing{{"a", "1"}, {"b", "2"}}, both.Verify(nil)); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
		}
	})
	t.Run("affinity-class A10, 1.4: the message", func(t *testing.T) {
		want := `pod tenant-acme/main-db-0 belongs to application with AffinityClass "dc1" but missing required nodeSelector ` +
			"topology.kubernetes.io/zone=dc1"
		if got := zone.Verify(nil)[0].Denial("tenant-acme", "main-db-0", "dc1"); got != want {
			t.Errorf("Denial() = %s, want %s", got, want)
		}
	})
}
