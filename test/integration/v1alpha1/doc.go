// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the specs of placements of placement.open-cluster-management.io/v1alpha1.
package v1alpha1
