// SPDX-License-Identifier: Apache-2.0

// Package life tests an installation from its first day to its last, with Helm and kubectl, on a node of the tests' kubelet.
package life
