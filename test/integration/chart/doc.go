// SPDX-License-Identifier: Apache-2.0

// Package chart renders deploy/charts/placement-hub with the real Helm, compares it with the kustomizations, and installs it on a real API server.
package chart
