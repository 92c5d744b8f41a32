// Command crdoverlay merges an overlay into the OpenAPI schema of every version of a CustomResourceDefinition file, in place. It is
// run by go generate in package manifests, after controller-gen has made the file of the Go types.
//
// Markers on our types cannot reach into types of others, such as metav1.LabelSelector; the overlay holds what has to be said there.
// It has the form of the schema. It only adds: an object of the overlay must be there in the schema, and a value that is there
// already must be the same, so that neither a misspelt field nor a forgotten marker goes unnoticed.
package main
