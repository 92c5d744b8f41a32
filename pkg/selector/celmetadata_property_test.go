// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/test/property"
)

// metadataFields returns the JSON names of all fields of metadata.
func metadataFields() []string {
	var fields []string
	for field := range reflect.TypeFor[metav1.ObjectMeta]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	return fields
}

// metadataChanges maps each field of metadata to a function that sets it to the first or the second of two values.
var metadataChanges = map[string]func(c *clusterv1.ManagedCluster, second bool){
	"resourceVersion": func(*clusterv1.ManagedCluster, bool) {}, // Every update changes it.
	"managedFields": func(c *clusterv1.ManagedCluster, second bool) {
		c.ManagedFields = oneOf(second, nil, []metav1.ManagedFieldsEntry{{Manager: "m", FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{}}})
	},
	"selfLink": func(c *clusterv1.ManagedCluster, second bool) {
		c.SelfLink = oneOf(second, "", "/a") //nolint:staticcheck // CEL reads it, deprecated or not.
	},
	"generateName": func(c *clusterv1.ManagedCluster, second bool) { c.GenerateName = oneOf(second, "", "a") },
	"namespace":    func(c *clusterv1.ManagedCluster, second bool) { c.Namespace = oneOf(second, "", "a") },
	"uid":          func(c *clusterv1.ManagedCluster, second bool) { c.UID = oneOf[types.UID](second, "1", "2") },
	"generation":   func(c *clusterv1.ManagedCluster, second bool) { c.Generation = oneOf[int64](second, 1, 2) },
	"creationTimestamp": func(c *clusterv1.ManagedCluster, second bool) {
		c.CreationTimestamp = metav1.Unix(oneOf[int64](second, 1, 2), 0)
	},
	"deletionTimestamp": func(c *clusterv1.ManagedCluster, second bool) {
		c.DeletionTimestamp = oneOf(second, nil, &metav1.Time{Time: metav1.Unix(1, 0).Time})
	},
	"deletionGracePeriodSeconds": func(c *clusterv1.ManagedCluster, second bool) {
		c.DeletionGracePeriodSeconds = oneOf(second, nil, new(int64))
	},
	"labels": func(c *clusterv1.ManagedCluster, second bool) {
		c.Labels = oneOf(second, nil, map[string]string{"x": "a"})
	},
	"annotations": func(c *clusterv1.ManagedCluster, second bool) {
		c.Annotations = oneOf(second, nil, map[string]string{"x": "a"})
	},
	"ownerReferences": func(c *clusterv1.ManagedCluster, second bool) {
		c.OwnerReferences = oneOf(second, nil, []metav1.OwnerReference{{Name: "a"}})
	},
	"finalizers": func(c *clusterv1.ManagedCluster, second bool) { c.Finalizers = oneOf(second, nil, []string{"a"}) },
}

func oneOf[T any](second bool, a, b T) T {
	if second {
		return b
	}
	return a
}

// TestChangedPropertiesCoverExpressionsOverMetadata checks that an expression over metadata whose value differs after an update reads a
// changed property: otherwise its cached result would be stale for ever.
func TestChangedPropertiesCoverExpressionsOverMetadata(t *testing.T) {
	compiler, fields, changes := NewCompiler(), metadataFields(), slices.Sorted(maps.Keys(metadataChanges))
	questions := []string{
		`has(managedCluster.metadata.%[1]s)`, `managedCluster.metadata.%[1]s`, `managedCluster.metadata["%[1]s"]`,
		`managedCluster.metadata[?"%[1]s"].hasValue()`, `"%[1]s" in managedCluster.metadata`, `managedCluster.metadata.size()`,
		`managedCluster.metadata.exists(name, name == "%[1]s")`, `managedCluster["meta" + "data"].%[1]s`,
		`managedCluster.metadata == {"name": "c1"}`, `dyn(managedCluster).exists(part, managedCluster[part].exists(name, name == "%[1]s"))`,
	}

	property.Check(t, func(t *rapid.T) {
		field := rapid.SampledFrom(fields).Draw(t, "field")
		source := fmt.Sprintf(rapid.SampledFrom(questions).Draw(t, "question")+"%.0[1]s", field)

		p, err := compiler.program("dyn(" + source + ")")
		if err != nil {
			t.Fatal(err)
		}
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
		before := clusterinfo.New(cluster, nil)

		for version := range 20 {
			cluster = cluster.DeepCopy()
			cluster.ResourceVersion = strconv.Itoa(version + 1)
			metadataChanges[rapid.SampledFrom(changes).Draw(t, "changed")](cluster, rapid.Bool().Draw(t, "second"))
			after := before.Update(cluster)
			changed := clusterinfo.ChangedProperties(before, after)
			concerned := clusterinfo.Affects(p.reads, changed) || before.Terminating != after.Terminating // The latter changes every property.
			if was, is := valueText(p, before), valueText(p, after); was != is && !concerned {
				t.Fatalf("%s reads %v, which leaves out %v: %q became %q", source, p.reads, changed, was, is)
			}
			before = after
		}
	})
}

// TestHiddenMetadataIsAbsentForCEL checks that no result depends on resourceVersion or managedFields.
func TestHiddenMetadataIsAbsentForCEL(t *testing.T) {
	f := clusterinfo.New(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "c1", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
	}}, nil)
	for _, expression := range []string{
		`has(managedCluster.metadata.resourceVersion)`, `has(managedCluster.metadata.managedFields)`,
		`"resourceVersion" in managedCluster.metadata`, `managedCluster.metadata.exists(name, name in ["resourceVersion", "managedFields"])`,
		`managedCluster.metadata[?"resourceVersion"].hasValue()`,
	} {
		s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{expression}})
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		if verdict := s.Match(f, &EvalContext{Now: now}); verdict.Matched || verdict.Err != nil {
			t.Errorf("%s: matched %v with %v, want that the field is absent", expression, verdict.Matched, verdict.Err)
		}
	}
}
