// SPDX-License-Identifier: Apache-2.0

// Command release makes releases. It needs Go alone; the Makefile passes version, commit and time.
//
//	release image    # builds the image: an OCI layout, and an archive for `docker load` for each architecture
//	release push     # pushes that layout to a registry
//	release collect  # puts everything that is released into one directory: binaries, image, manifests, SBOM, check sums, signature
//	release verify   # checks such a directory without a network
//
// Equal sources and Go versions give equal files, whatever the machine and the directory.
package main
