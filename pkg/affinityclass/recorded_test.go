// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

func TestRecordedClasses(t *testing.T) {
	acme, eu := tenant("tenant-root", "acme", "dc1", "dc1", "dc2"), tenant("tenant-acme", "eu", "", "dc1")
	for _, tc := range []struct {
		reason  string
		tenants []*appsv1alpha1.Tenant
		place   Namespace
		want    Effective
	}{
		{"T13: a Tenant counts, and not the record", []*appsv1alpha1.Tenant{acme, eu}, Namespace{Name: "tenant-acme-eu", Recorded: `["gpu"]`},
			Effective{Default: "dc1", Allowed: Allowed{Restricted: true, Names: []string{"dc1"}}}},
		{"T13: without the Tenant the record counts, and there is no default", []*appsv1alpha1.Tenant{acme},
			Namespace{Name: "tenant-acme-eu", Recorded: `["dc1"]`}, Effective{Allowed: Allowed{Restricted: true, Names: []string{"dc1"}}}},
		{"T13: it is intersected with the nearest Tenant's list", []*appsv1alpha1.Tenant{acme},
			Namespace{Name: "tenant-acme-eu", Recorded: `["gpu","dc2"]`}, Effective{Allowed: Allowed{Restricted: true, Names: []string{"dc2"}}}},
		{"T13: without any Tenant it counts alone", nil, Namespace{Name: "tenant-acme", Recorded: `["gpu"]`},
			Effective{Allowed: Allowed{Restricted: true, Names: []string{"gpu"}}}},
		{"T13: an empty record allows nothing", nil, Namespace{Name: "tenant-acme", Recorded: `[]`},
			Effective{Allowed: Allowed{Restricted: true, Names: []string{}}}},
		{"T13: what is no record allows nothing", nil, Namespace{Name: "tenant-acme", Recorded: `gpu`},
			Effective{Allowed: Allowed{Restricted: true}}},
		{"T13: a platform's own namespace of such a name is free", []*appsv1alpha1.Tenant{acme}, Namespace{Name: "tenant-acme-us"}, Effective{}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, NewTree(tc.tenants).EffectiveIn(tc.place)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestClassesAreReadAsTheyAreRecorded(t *testing.T) {
	for _, allowed := range []Allowed{{Restricted: true, Names: []string{}}, {Restricted: true, Names: []string{"dc1", "dc2"}}} {
		record, err := allowed.Record()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(allowed, parseAllowed(record)); diff != "" {
			t.Errorf("%s (-recorded +read):\n%s", record, diff)
		}
	}
	if record, err := (Allowed{}).Record(); record != "" || err != nil {
		t.Errorf("an unrestricted list is recorded as %q: %v", record, err)
	}
}
