// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// TestUpdateEqualsNew checks that Update returns the same ClusterInfo as New, whatever the state before.
func TestUpdateEqualsNew(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		before := clusterFacts(t, "before").WithProfiles([]ProfileClaim{{Profile: Profile{"ns", "c1"}}})
		cluster := clusterFacts(t, "after").source.cluster
		got, want := before.Update(cluster), New(cluster, before.Scores).WithProfiles(before.Profiles)
		if got.source.cluster != cluster {
			t.Fatal("CEL would see another state")
		}
		got.source = want.source
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(ClusterInfo{}), cmp.Comparer(func(a, b *source) bool { return a == b })); diff != "" {
			t.Fatalf("facts (-of the cluster +next to the state before):\n%s", diff)
		}
	})
}

// TestUpdateSharesEqualMaps checks that Update shares the maps that a heartbeat does not change.
func TestUpdateSharesEqualMaps(t *testing.T) {
	before := New(realistic(), nil)
	shared := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
	for _, event := range events {
		after := before.Update(event.after())
		if !shared(before.Claims, after.Claims) || !shared(before.Resources, after.Resources) {
			t.Errorf("%s: claims or resources were copied", event.name)
		}
	}
}
