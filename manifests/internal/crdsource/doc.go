// SPDX-License-Identifier: Apache-2.0

// Package crdsource reads the CustomResourceDefinitions of the pinned version of open-cluster-management.io/api.
//
// The definitions are in the directories of the Go packages, either in the module cache or in vendor. The package writes nothing.
package crdsource
