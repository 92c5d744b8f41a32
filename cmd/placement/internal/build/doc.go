// SPDX-License-Identifier: Apache-2.0

// Package build has the version, the commit and the modules of the binary.
package build
