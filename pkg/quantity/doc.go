// Package quantity says which texts of Kubernetes quantities may be parsed.
//
// resource.Quantity calculates exactly. To parse "1e-99999999", or to compare "1e99999999", takes minutes and gigabytes, although the
// definitions of ManagedClusters admit such texts and every agent of a managed cluster may write them. Ask Moderate before.
package quantity
