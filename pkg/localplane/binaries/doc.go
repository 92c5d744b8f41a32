// SPDX-License-Identifier: Apache-2.0

// Package binaries finds the binaries of a control plane on this machine: those that the user names, or those that this
// repository has built from the versions that test/controlplane pins; FindStored takes those of setup-envtest too. FindOCM finds those of Open
// Cluster Management, which test/ocm pins.
//
// It builds, downloads and runs nothing.
package binaries
