// SPDX-License-Identifier: Apache-2.0

// Package binaries finds the binaries of a control plane on this machine: those that the user names, those of setup-envtest, or those that
// this repository has built from the versions that test/controlplane pins. FindOCM finds those of Open Cluster Management, which test/ocm pins.
//
// It builds, downloads and runs nothing.
package binaries
