// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"

	"sigs.k8s.io/yaml"
)

func main() {
	crd := flag.String("crd", "", "file of the CustomResourceDefinition, which is changed")
	overlay := flag.String("overlay", "", "file of what its schemas get")
	flag.Parse()
	if err := run(*crd, *overlay); err != nil {
		fmt.Fprintln(os.Stderr, "crdoverlay:", err)
		os.Exit(1)
	}
}

func run(crdFile, overlayFile string) error {
	crd, err := read(crdFile)
	if err != nil {
		return err
	}
	overlay, err := read(overlayFile)
	if err != nil {
		return err
	}
	schemas, err := schemasOf(crd)
	if err != nil {
		return fmt.Errorf("%s: %w", crdFile, err)
	}
	for _, schema := range schemas {
		if err := merge(schema, overlay, ""); err != nil {
			return fmt.Errorf("merge %s into %s: %w", overlayFile, crdFile, err)
		}
	}
	content, err := yaml.Marshal(crd)
	if err != nil {
		return fmt.Errorf("write %s as YAML: %w", crdFile, err)
	}
	content = append([]byte("---\n"), content...)
	return os.WriteFile(crdFile, content, 0o644) //nolint:gosec // Readable like its neighbours.
}

func read(file string) (map[string]any, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := yaml.UnmarshalStrict(content, &object); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return object, nil
}

// schemasOf returns spec.versions[*].schema.openAPIV3Schema.
func schemasOf(crd map[string]any) ([]map[string]any, error) {
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	schemas := make([]map[string]any, 0, len(versions))
	for _, version := range versions {
		fields, _ := version.(map[string]any)
		validation, _ := fields["schema"].(map[string]any)
		schema, isObject := validation["openAPIV3Schema"].(map[string]any)
		if !isObject {
			return nil, fmt.Errorf("version %v has no schema.openAPIV3Schema", fields["name"])
		}
		schemas = append(schemas, schema)
	}
	if len(schemas) == 0 {
		return nil, errors.New("not a CustomResourceDefinition: it has no spec.versions")
	}
	return schemas, nil
}

// merge adds the overlay to a part of the schema; path is that of the part, for error messages.
func merge(schema, overlay map[string]any, path string) error {
	for _, key := range slices.Sorted(maps.Keys(overlay)) {
		at := path + "." + key
		have, found := schema[key]
		switch add := overlay[key].(type) {
		case map[string]any:
			part, isObject := have.(map[string]any)
			if !isObject {
				return fmt.Errorf("%s is not in the schema: correct the overlay or the Go type", at)
			}
			if err := merge(part, add, at); err != nil {
				return err
			}
		default:
			if found && !reflect.DeepEqual(have, add) {
				return fmt.Errorf("%s is %v already, and would become %v: remove it from the overlay or from the markers", at, have, add)
			}
			schema[key] = add
		}
	}
	return nil
}
