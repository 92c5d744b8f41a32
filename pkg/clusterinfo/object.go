// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// hiddenMetadata are the fields of metadata that CEL does not see. They change with every heartbeat and say nothing about the cluster, so
// ChangedProperties omits them, and no decision may depend on them.
var hiddenMetadata = map[string]bool{"managedFields": true, "resourceVersion": true}

// Object returns the cluster as a map with the field names of its JSON, as CEL expressions see it: apiVersion, kind,
// metadata.resourceVersion, metadata.managedFields and empty fields are absent, quantities and times are strings. Each call makes a new
// map, which is several times as big as the cluster; PartField converts a single field.
func (c *ClusterInfo) Object() (map[string]any, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.source.cluster)
	if err != nil {
		return nil, fmt.Errorf("converting ManagedCluster %s: %w", c.source.cluster.Name, err)
	}
	delete(fields, "apiVersion")
	delete(fields, "kind")

	if metadata, ok := fields[metadataPart].(map[string]any); ok {
		for name := range hiddenMetadata {
			delete(metadata, name)
		}
	}
	return fields, nil
}

const metadataPart = "metadata"

// parts maps the parts of a ManagedCluster (metadata, spec, status) to the JSON names of their fields and the index of each field in the Go
// type.
var parts = sync.OnceValue(func() map[string]map[string]int {
	named := map[string]map[string]int{}
	for part, example := range map[string]any{
		metadataPart: metav1.ObjectMeta{}, "spec": clusterv1.ManagedClusterSpec{}, "status": clusterv1.ManagedClusterStatus{},
	} {
		named[part] = map[string]int{}
		for field := range reflect.TypeOf(example).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(example).Field(field).Tag.Get("json"), ",")
			named[part][name] = field
		}
	}
	return named
})

// IsPart reports whether the name is metadata, spec or status. Every cluster has all three.
func IsPart(name string) bool { return parts()[name] != nil }

// PartField returns Object()[part][name] without converting the rest of the object. It returns false if the field is absent, and an error
// if it cannot be converted.
func (c *ClusterInfo) PartField(part, name string) (value any, found bool, err error) {
	number, exists := parts()[part][name]
	if !exists || part == metadataPart && hiddenMetadata[name] {
		return nil, false, nil
	}
	var whole reflect.Value

	switch part {
	case metadataPart:
		whole = reflect.ValueOf(c.source.cluster.ObjectMeta)
	case "spec":
		whole = reflect.ValueOf(c.source.cluster.Spec)
	default:
		whole = reflect.ValueOf(c.source.cluster.Status)
	}

	// Only this field is converted.
	alone := reflect.New(whole.Type())
	alone.Elem().Field(number).Set(whole.Field(number))
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(alone.Interface())
	if err != nil {
		return nil, false, fmt.Errorf("converting %s.%s of ManagedCluster %s: %w", part, name, c.source.cluster.Name, err)
	}
	value, found = fields[name]
	return value, found, nil
}
