// SPDX-License-Identifier: Apache-2.0

// Package run has the end-to-end tests of `placement run` with the sample of Placements.
package run
