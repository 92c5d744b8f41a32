// Command crdcopy writes the CustomResourceDefinitions of open-cluster-management.io/api, unchanged, into the directory given
// by -out. It is run by go generate in package manifests.
package main
