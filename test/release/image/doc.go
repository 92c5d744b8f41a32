// SPDX-License-Identifier: Apache-2.0

// Package image builds the container image of the hub without a container engine, from static binaries, and writes, loads and pushes it.
//
// The image depends on its binaries, files and time alone: the same inputs give the same digest on every machine. It has the binary, the
// certificates of authorities that golang.org/x/crypto pins, a user that is not root, and the texts of licenses. Nothing of the machine that
// builds it is in it.
package image
