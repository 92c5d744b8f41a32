// SPDX-License-Identifier: Apache-2.0

// Package chart tests the ways of installing the hub. It renders deploy/charts/placement-hub with the real Helm 4 and 3, compares it and what
// `placement manifests` prints with the kustomizations, and installs them on a real API server.
package chart
