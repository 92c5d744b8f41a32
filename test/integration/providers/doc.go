// SPDX-License-Identifier: Apache-2.0

// Package providers runs providers of clusters for specs: each as the ServiceAccount and with the rights that manifests/clusterprovider gives
// it, behind a proxy that records its requests.
package providers
