// Package crdsource finds the CustomResourceDefinitions that the pinned version of open-cluster-management.io/api ships.
//
// They lie beside the Go types, so the directory of the Go package is the place to look, be it in the module cache or in
// vendor. The package only reads.
package crdsource
