// SPDX-License-Identifier: Apache-2.0

// Command crdcopy copies the CustomResourceDefinitions of open-cluster-management.io/api, unchanged, into the directory given by -out. go
// generate runs it in package manifests.
package main
