// SPDX-License-Identifier: Apache-2.0

// Package checkout finds the directory of this repository, where programs are built and screenshots are kept.
package checkout
