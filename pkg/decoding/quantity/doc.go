// SPDX-License-Identifier: Apache-2.0

// Package quantity reports which texts of Kubernetes quantities may be parsed.
//
// resource.Quantity calculates exactly. Parsing "1e-99999999" or comparing "1e99999999" takes minutes and gigabytes, although the
// CustomResourceDefinition of ManagedClusters admits such texts and every agent of a managed cluster may write them. Callers check with
// Moderate before they parse.
package quantity
