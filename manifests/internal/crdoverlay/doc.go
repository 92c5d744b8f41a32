// SPDX-License-Identifier: Apache-2.0

// Command crdoverlay merges an overlay into the OpenAPI schema of every version of a CustomResourceDefinition file, in place. go generate
// runs it in package manifests, after controller-gen has created the file from the Go types.
//
// Markers on our types cannot reach into types of other modules, such as metav1.LabelSelector; the overlay has the rest, in the form of the
// schema. The overlay only adds: its objects must exist in the schema, and an existing value must be equal, so that misspelt fields and
// missing markers are errors.
package main
