// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// sections are the parts of a ManagedCluster that have fields.
var sections = map[string]reflect.Type{
	"metadata": reflect.TypeFor[metav1.ObjectMeta](),
	"spec":     reflect.TypeFor[clusterv1.ManagedClusterSpec](),
	"status":   reflect.TypeFor[clusterv1.ManagedClusterStatus](),
}

// unnamed are the fields that ChangedProperties never returns.
var unnamed = []string{"metadata.managedFields", "metadata.resourceVersion"}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// TestEveryFieldOfTheAPIIsKnown fails if the API gains a field that is missing in the table, because CEL could read it and
// ChangedProperties would omit it.
func TestEveryFieldOfTheAPIIsKnown(t *testing.T) {
	var want, got []string
	for section, kind := range sections {
		for f := range kind.Fields() {
			if path := section + "." + jsonName(f); !slices.Contains(unnamed, path) {
				want = append(want, path)
			}
		}
	}
	slices.Sort(want)

	for _, known := range fields {
		got = append(got, known.path)
		if key, found := FieldProperty(known.path); !found || key != (Property{Field, known.path}) {
			t.Errorf("FieldProperty(%q) is %v, %v", known.path, key, found)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table of fields (-API +table):\n%s", diff)
	}

	for _, path := range append([]string{"", "status", "metadata.lables"}, unnamed...) {
		if key, found := FieldProperty(path); found {
			t.Errorf("FieldProperty(%q) is %v, want none", path, key)
		}
	}

	var parts []string
	for f := range reflect.TypeFor[clusterv1.ManagedCluster]().Fields() {
		if name := jsonName(f); name != "" {
			parts = append(parts, name)
		}
	}
	if diff := cmp.Diff([]string{"metadata", "spec", "status"}, parts); diff != "" {
		t.Errorf("the parts of a ManagedCluster (-want +got):\n%s", diff)
	}
}

// variants returns values of a type that CEL reads differently. They differ in one leaf each, and cover every leaf.
func variants(kind reflect.Type) []reflect.Value {
	zero := reflect.Zero(kind)
	switch kind {
	case reflect.TypeFor[metav1.Time]():
		return []reflect.Value{zero, reflect.ValueOf(metav1.NewTime(noon)), reflect.ValueOf(metav1.NewTime(noon.Add(time.Second)))}
	case reflect.TypeFor[resource.Quantity]():
		return []reflect.Value{reflect.ValueOf(resource.MustParse("1024")), reflect.ValueOf(resource.MustParse("1Ki"))}
	}

	with := func(set func(v reflect.Value)) reflect.Value {
		v := reflect.New(kind).Elem()
		set(v)
		return v
	}
	all := []reflect.Value{zero}

	switch kind.Kind() {
	case reflect.String:
		all = append(all, reflect.ValueOf("x").Convert(kind))
	case reflect.Bool:
		all = append(all, reflect.ValueOf(true).Convert(kind))
	case reflect.Int32, reflect.Int64, reflect.Uint8:
		all = append(all, reflect.ValueOf(1).Convert(kind))
	case reflect.Pointer:
		for _, element := range variants(kind.Elem()) {
			all = append(all, with(func(v reflect.Value) { v.Set(reflect.New(kind.Elem())); v.Elem().Set(element) }))
		}
	case reflect.Slice:
		for _, element := range variants(kind.Elem()) {
			all = append(all, with(func(v reflect.Value) { v.Set(reflect.Append(v, element)) }))
		}
		all = append(all, with(func(v reflect.Value) { v.Set(reflect.Append(v, variants(kind.Elem())[0], variants(kind.Elem())[0])) }))
	case reflect.Map:
		for _, element := range variants(kind.Elem()) {
			all = append(all, with(func(v reflect.Value) {
				v.Set(reflect.MakeMap(kind))
				v.SetMapIndex(reflect.ValueOf("x").Convert(kind.Key()), element)
			}))
		}
	case reflect.Struct:
		for i := range kind.NumField() {
			for _, element := range variants(kind.Field(i).Type)[1:] {
				all = append(all, with(func(v reflect.Value) { v.Field(i).Set(element) }))
			}
		}
	default:
		panic(fmt.Sprintf("the API has a type that this test does not know: %s", kind))
	}

	return all
}

// TestEveryLeafOfAFieldCounts checks that ChangedProperties returns exactly the field in which two clusters differ, for every leaf of every
// field.
func TestEveryLeafOfAFieldCounts(t *testing.T) {
	for section, kind := range sections {
		for i := range kind.NumField() {
			path := section + "." + jsonName(kind.Field(i))
			if slices.Contains(unnamed, path) {
				continue
			}
			var clusters []*clusterv1.ManagedCluster

			for _, value := range variants(kind.Field(i).Type) {
				cluster := &clusterv1.ManagedCluster{}
				part := map[string]any{"metadata": &cluster.ObjectMeta, "spec": &cluster.Spec, "status": &cluster.Status}[section]
				reflect.ValueOf(part).Elem().Field(i).Set(value)
				clusters = append(clusters, cluster)
			}

			for n, before := range clusters {
				for m, after := range clusters {
					expectField(t, path, before, after, n == m)
				}
			}
		}
	}
}

// expectField compares with a deep copy, so that no comparison succeeds because of equal pointers.
func expectField(t *testing.T, path string, before, after *clusterv1.ManagedCluster, same bool) {
	t.Helper()
	changes := ChangedProperties(New(before, nil), New(after.DeepCopy(), nil))
	if len(changes) == 1 && changes[0].Kind == Name {
		return // The cluster begins to terminate: the single property Name covers all others.
	}
	var got, want []Property

	for _, change := range changes {
		if change.Kind == Field {
			got = append(got, change)
		}
	}
	if !same {
		want = []Property{{Field, path}}
	}

	if path == fieldLabels && len(before.Labels) > 0 && len(after.Labels) > 0 {
		want = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %v and %v (-want +got):\n%s", path, before, after, diff)
	}
}

// TestPartsAreAlwaysPresent checks that metadata, spec and status are always present: the reads of CEL expressions rely on it.
func TestPartsAreAlwaysPresent(t *testing.T) {
	object, err := New(&clusterv1.ManagedCluster{}, nil).Object()
	if err != nil {
		t.Fatal(err)
	}
	for section := range sections {
		if _, isMap := object[section].(map[string]any); !isMap {
			t.Errorf("%s is %v, want a map", section, object[section])
		}
	}
}
