#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The definition of Placements has the default 100% for the number of clusters in a decision group. A Placement that a Go client writes never gets it.
#
# Versions:  open-cluster-management.io/api v1.3.0, k8s.io/apiextensions-apiserver v0.37.2, and Go 1.26.
# Input:     a Placement whose spec has an empty decision strategy, once as YAML and once as the Go type of cluster.open-cluster-management.io/v1beta1,
#            each with the defaults that an API server adds by the definition in the module.
# Seen:      The YAML gets clustersPerDecisionGroup: 100%. The Go type encodes the field as the number 0, whose json tag says omitempty: the type is a
#            struct, which omitempty never omits. So the field is there, and the default is not added. The pattern of the definition asks for at least
#            1, but it is one for strings, so that the number 0 is valid.
# Expected:  the same object from both, as for the other fields with a default in that spec. A tool that compares what a YAML file and a Go client
#            have written sees a difference of the specs, and a server-side apply of the Go type owns a field that nobody set.
#
# The script needs Go 1.26 and a module proxy. It exits with 1 if the behaviour differs from what is written here.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >go.mod <<'END'
module finding

go 1.26

require (
	k8s.io/apiextensions-apiserver v0.37.2
	k8s.io/apimachinery v0.37.2
	open-cluster-management.io/api v1.3.0
	sigs.k8s.io/yaml v1.6.0
)
END
cat >main.go <<'END'
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/yaml"
)

const text = `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: all}
spec: {decisionStrategy: {groupStrategy: {}}}
`

func main() {
	internal := definition(os.Args[1])
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	check(err)
	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	check(err)

	var fromYAML, fromGo map[string]any
	check(yaml.Unmarshal([]byte(text), &fromYAML))
	placement := &clusterv1beta1.Placement{}
	check(yaml.Unmarshal([]byte(text), placement))
	encoded, err := json.Marshal(placement)
	check(err)
	check(json.Unmarshal(encoded, &fromGo))
	for _, each := range []struct {
		name   string
		object map[string]any
	}{{"YAML", fromYAML}, {"Go type", fromGo}} {
		defaulting.Default(each.object, structural)
		size, found, err := unstructured.NestedFieldNoCopy(each.object, "spec", "decisionStrategy", "groupStrategy", "clustersPerDecisionGroup")
		check(err)
		problems := validation.ValidateCustomResource(nil, map[string]any{"spec": each.object["spec"]}, validator)
		fmt.Printf("%s: clustersPerDecisionGroup %v, found %t, problems %d\n", each.name, size, found, len(problems))
	}
}

// definition returns the schema of Placements in the directory of the module.
func definition(module string) *apiextensions.CustomResourceValidation {
	files, err := filepath.Glob(filepath.Join(module, "cluster", "v1beta1", "*placements.crd.yaml"))
	check(err)
	content, err := os.ReadFile(files[0])
	check(err)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	check(yaml.Unmarshal(content, crd))
	internal := &apiextensions.CustomResourceValidation{}
	check(apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(crd.Spec.Versions[0].Schema, internal, nil))
	return internal
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
END

export GOFLAGS=-mod=mod GOWORK=off
go mod tidy >tidy.log 2>&1 || { cat tidy.log >&2; exit 1; }
got=$(go run . "$(go list -m -f '{{.Dir}}' open-cluster-management.io/api)")
want='YAML: clustersPerDecisionGroup 100%, found true, problems 0
Go type: clustersPerDecisionGroup 0, found true, problems 0'
if [ "$got" != "$want" ]; then
	printf 'got:\n%s\nwant:\n%s\n' "$got" "$want" >&2
	exit 1
fi
echo "$got"
