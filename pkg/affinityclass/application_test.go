// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"errors"
	"testing"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

// spec returns the spec of an application with a class, or with none.
func spec(class string) map[string]any {
	if class == "" {
		return map[string]any{"replicas": int64(2)}
	}
	return map[string]any{"replicas": int64(2), "affinityClass": class}
}

func TestCheckApplication(t *testing.T) {
	scaled := func(class string) map[string]any {
		changed := spec(class)
		changed["replicas"] = int64(3)
		return changed
	}
	refused := func(class, text string) []string {
		return []string{`spec.affinityClass: Invalid value: "` + class + `": ` + text}
	}
	inAcme, inApps := Namespace{Name: "tenant-acme"}, Namespace{Name: "apps"}
	tight := tenant(RootNamespace, "acme", "dc2", "dc2")
	cases := []struct {
		reason    string
		tenants   []*appsv1alpha1.Tenant
		classes   Classes
		namespace Namespace
		change    Change
		want      []string
	}{
		{reason: "affinity-class A1: a class that is allowed", namespace: inAcme, change: Change{New: spec("dc1")}},
		{reason: "affinity-class A2: the default", namespace: inAcme, change: Change{New: spec("")}},
		{reason: "affinity-class A3: a class that is not allowed", namespace: inAcme, change: Change{New: spec("gpu")},
			want: refused("gpu", `AffinityClass "gpu" is not allowed in tenant namespace "tenant-acme" (allowed: dc1, dc2)`)},
		{reason: "affinity-class A4: a class that there is not", namespace: inAcme, change: Change{New: spec("nosuch")},
			want: refused("nosuch", `AffinityClass "nosuch" not found`)},
		{reason: "affinity-class A25: a reserved key", namespace: inAcme, change: Change{New: map[string]any{"_scheduling": map[string]any{},
			"_a": nil}},
			want: []string{
				`spec[_a]: Invalid value: "_a": values key "_a" is reserved (keys starting with '_' are not allowed)`,
				`spec[_scheduling]: Invalid value: "_scheduling": values key "_scheduling" is reserved (keys starting with '_' are not allowed)`,
			}},
		{reason: "affinity-class A26: the next update of the spec is checked again", tenants: []*appsv1alpha1.Tenant{tight}, namespace: inAcme,
			change: Change{Update: true, Old: spec("dc1"), New: scaled("dc1"), Current: "dc1"},
			want:   refused("dc1", `AffinityClass "dc1" is not allowed in tenant namespace "tenant-acme" (allowed: dc2)`)},
		{reason: "affinity-class A26: an edit of labels is accepted", tenants: []*appsv1alpha1.Tenant{tight}, namespace: inAcme,
			change: Change{Update: true, Old: spec("dc1"), New: spec("dc1"), Current: "dc1"}},
		{reason: "affinity-class 1.3: an update without a spec", tenants: []*appsv1alpha1.Tenant{tenant(RootNamespace, "acme", "gone")},
			namespace: inAcme,
			change:    Change{Update: true}},
		{reason: "affinity-class A29: outside of Tenants", namespace: inApps, change: Change{New: spec("gpu")}},
		{reason: "affinity-class A29: outside of Tenants without a class", namespace: inApps, change: Change{New: spec("")}},
		{reason: "affinity-class A36: nothing is allowed", tenants: []*appsv1alpha1.Tenant{tight, tenant("tenant-acme", "eu", "", "dc1")},
			namespace: Namespace{Name: "tenant-acme-eu"}, change: Change{New: spec("dc1")},
			want: refused("dc1", `AffinityClass "dc1" is not allowed in tenant namespace "tenant-acme-eu" (allowed: none)`)},
		{reason: "affinity-class A37: a class that is being deleted", classes: given(deleted(dc1)), namespace: inAcme,
			change: Change{New: spec("dc1")},
			want:   refused("dc1", `AffinityClass "dc1" is being deleted`)},
		{reason: "affinity-class A37: as the default", classes: given(deleted(dc1)), namespace: inAcme, change: Change{New: spec("")},
			want: refused("dc1", `AffinityClass "dc1" is being deleted`)},
		{reason: "affinity-class A37: an update that keeps it", classes: given(deleted(dc1)), namespace: inAcme,
			change: Change{Update: true, Old: spec("dc1"), New: scaled("dc1")}},
		{reason: "affinity-class A37: an update that keeps it as the default", classes: given(deleted(dc1)), namespace: inAcme,
			change: Change{Update: true, Old: spec(""), New: scaled(""), Current: "dc1"}},
		{reason: "affinity-class A42: a system namespace", namespace: Namespace{Name: "hub", System: true}, change: Change{New: spec("dc1")},
			want: refused("dc1", `AffinityClass is not supported in system namespace "hub"`)},
		{reason: "affinity-class A42: a system namespace without a class", namespace: Namespace{Name: "hub", System: true},
			change: Change{New: spec("")}},
		{reason: "affinity-class 1.1: a class that is no string", namespace: inAcme, change: Change{New: map[string]any{"affinityClass": int64(1)}},
			want: []string{`spec.affinityClass: Invalid value: 1: must be a string`}},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if c.classes == nil {
				c.classes = all()
			}
			if c.tenants == nil {
				c.tenants = []*appsv1alpha1.Tenant{acme()}
			}
			review, err := CheckApplication(NewTree(c.tenants), c.classes, c.namespace, c.change)
			if err != nil {
				t.Fatal(err)
			}
			expectTexts(t, c.reason, review, c.want, nil)
		})
	}
	t.Run("affinity-class 1.6: a class that cannot be read refuses", func(t *testing.T) {
		failing := func(string) (*cozystackv1alpha1.AffinityClass, error) { return nil, errors.New("timeout") }
		if _, err := CheckApplication(NewTree(nil), failing, inApps, Change{New: spec("dc1")}); err == nil {
			t.Error("CheckApplication() = nil, want the error of the lookup")
		}
	})
}

func TestResolve(t *testing.T) {
	hash := func(spec map[string]any) string {
		hash, err := HashSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	inAcme, other := Namespace{Name: "tenant-acme"}, tenant(RootNamespace, "acme", "dc2", "dc2")
	unguarded := class("dc1", zone, "dc1")
	unguarded.Finalizers = nil
	cases := []struct {
		reason             string
		tenant             *appsv1alpha1.Tenant
		classes            Classes
		spec               map[string]any
		annotation         string
		class, record      string
		refused, unguarded bool
	}{
		{reason: "affinity-class A1: the class of the spec", spec: spec("dc2"), class: "dc2", record: "dc2@" + hash(spec("dc2"))},
		{reason: "affinity-class A2: the default", spec: spec(""), class: "dc1", record: "dc1@" + hash(spec(""))},
		{reason: "affinity-class A40: the record is that of the present spec", tenant: other, spec: spec(""), annotation: "dc1@" + hash(spec("")),
			class: "dc1", record: "dc1@" + hash(spec(""))},
		{reason: "affinity-class A40: a new spec is resolved anew", tenant: other, spec: spec(""), annotation: "dc1@" + hash(nil),
			class: "dc2", record: "dc2@" + hash(spec(""))},
		{reason: "affinity-class 1.3: a malformed record is resolved anew", tenant: other, spec: spec(""),
			annotation: "dc1@" + hash(spec("")) + "0",
			class:      "dc2", record: "dc2@" + hash(spec(""))},
		{reason: "affinity-class 1.3: none stays none", spec: spec(""), annotation: "@" + hash(spec("")), record: "@" + hash(spec(""))},
		{reason: "affinity-class 1.3: no class", tenant: tenant(RootNamespace, "acme", ""), spec: spec(""), record: "@" + hash(spec(""))},
		{reason: "affinity-class 1.3: refused, as in admission", spec: spec("gpu"), record: "@" + hash(spec("gpu")), refused: true},
		{reason: "affinity-class A15: a recorded class that is gone", classes: given(), spec: spec("dc1"), annotation: "dc1@" + hash(spec("dc1")),
			record: "dc1@" + hash(spec("dc1")), refused: true},
		{reason: "affinity-class A28: a recorded class that is being deleted stays", classes: given(deleted(dc1)), spec: spec("dc1"),
			annotation: "dc1@" + hash(spec("dc1")), class: "dc1", record: "dc1@" + hash(spec("dc1"))},
		{reason: "affinity-class A37: a new spec keeps a class that is being deleted", classes: given(deleted(dc1)), spec: spec("dc1"),
			annotation: "dc1@" + hash(nil), class: "dc1", record: "dc1@" + hash(spec("dc1"))},
		{reason: "affinity-class 1.1: a class without the finalizer", classes: given(unguarded), spec: spec("dc1"),
			class: "dc1", record: "dc1@" + hash(spec("dc1")), unguarded: true},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if c.tenant == nil {
				c.tenant = acme()
			}
			if c.classes == nil {
				c.classes = all()
			}
			got, err := Resolve(NewTree([]*appsv1alpha1.Tenant{c.tenant}), c.classes, inAcme, c.spec, c.annotation)
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			if got.Class != nil {
				name = got.Class.Name
			}
			if name != c.class || got.Record.String() != c.record || (got.Refusal != nil) != c.refused || got.Unguarded != c.unguarded {
				t.Errorf("Resolve() = %+v, want class %q, record %s, refused %t, unguarded %t", got, c.class, c.record, c.refused, c.unguarded)
			}
		})
	}
}

func TestRecord(t *testing.T) {
	t.Run("affinity-class 1.3: the hash does not depend on the order of keys, and is 16 hex digits", func(t *testing.T) {
		got, err := HashSpec(map[string]any{"b": "<", "a": []any{int64(1)}})
		if err != nil || got != "acaabe7eb52fb692" {
			t.Errorf("HashSpec() = %s, %v", got, err)
		}
	})
	cases := []struct {
		reason, annotation string
		want               Record
		found              bool
	}{
		{"affinity-class 1.3: a class", "dc1@0123456789abcdef", Record{"dc1", "0123456789abcdef"}, true},
		{"affinity-class 1.3: none", "@0123456789abcdef", Record{"", "0123456789abcdef"}, true},
		{"affinity-class 1.3: missing", "", Record{}, false},
		{"affinity-class 1.3: without a hash", "dc1", Record{}, false},
		{"affinity-class 1.3: a short hash", "dc1@0123", Record{}, false},
		{"affinity-class 1.3: capitals", "dc1@0123456789ABCDEF", Record{}, false},
		{"affinity-class 1.3: no hex digits", "dc1@0123456789abcdeg", Record{}, false},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if got, found := ParseRecord(c.annotation); got != c.want || found != c.found {
				t.Errorf("ParseRecord(%q) = %v, %t, want %v, %t", c.annotation, got, found, c.want, c.found)
			}
			if c.found && c.want.String() != c.annotation {
				t.Errorf("String() = %s, want %s", c.want, c.annotation)
			}
		})
	}
}

func TestRelease(t *testing.T) {
	chosen := NewRelease(Resolution{Class: dc1, Record: Record{"dc1", "0123456789abcdef"}})
	none := NewRelease(Resolution{Record: Record{"", "0123456789abcdef"}})
	type object struct {
		labels, annotations map[string]string
		values              map[string]any
	}
	right := func() object {
		return object{
			map[string]string{ClassLabel: "dc1", "x": "y"}, map[string]string{ResolvedAnnotation: "dc1@0123456789abcdef"},
			map[string]any{"replicas": int64(1), "_scheduling": map[string]any{"affinityClass": "dc1",
				"nodeSelector": map[string]any{zone: "dc1"}}},
		}
	}
	cases := []struct {
		reason  string
		release Release
		edit    func(*object)
		want    bool
	}{
		{"affinity-class A1: as it has to be", chosen, func(*object) {}, true},
		{"affinity-class A30: an edited label", chosen, func(o *object) { o.labels[ClassLabel] = "dc2" }, false},
		{"affinity-class A30: a removed label", chosen, func(o *object) { delete(o.labels, ClassLabel) }, false},
		{"affinity-class A30: another key in the nodeSelector", chosen, func(o *object) {
			o.values["_scheduling"] = map[string]any{"affinityClass": "dc1", "nodeSelector": map[string]any{zone: "dc1", "a": "b"}}
		}, false},
		{"affinity-class A30: another key in _scheduling", chosen, func(o *object) {
			o.values["_scheduling"] = map[string]any{"affinityClass": "dc1", "nodeSelector": map[string]any{zone: "dc1"}, "a": "b"}
		}, false},
		{"affinity-class 1.3: another record", chosen, func(o *object) { o.annotations = nil }, false},
		{"affinity-class 1.3: for no class both have to go", none, func(o *object) {
			o.annotations = map[string]string{ResolvedAnnotation: "@0123456789abcdef"}
		}, false},
		{"affinity-class 1.3: for no class both are away", none, func(o *object) {
			o.annotations = map[string]string{ResolvedAnnotation: "@0123456789abcdef"}
			delete(o.labels, ClassLabel)
			delete(o.values, "_scheduling")
		}, true},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			o := right()
			c.edit(&o)
			if got := c.release.InStep(o.labels, o.annotations, o.values); got != c.want {
				t.Errorf("InStep() = %t, want %t", got, c.want)
			}
		})
	}
}
