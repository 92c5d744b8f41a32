// SPDX-License-Identifier: Apache-2.0

// Command licenses has what the license of this repository and those of its dependencies ask for:
//
//	licenses -list docs/third-party.md   # writes the table of the modules in vendor/, and of copied works that tests use, with their terms
//	licenses -texts FILE                 # writes the texts of their licenses and notices, which every release has
//	licenses -headers                    # adds the SPDX line to each Go file without one
//
// Licenses are recognised by the files in vendor/ and beside copied works, by an SPDX line or by their text. A license that is not recognised is
// an error, and so is one that is not permitted.
package main

//go:generate go run . -root ../.. -list ../../docs/third-party.md
