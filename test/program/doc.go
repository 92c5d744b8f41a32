// SPDX-License-Identifier: Apache-2.0

// Package program runs programs in tests: it has their output and exit codes, and ends them with the test. It imports the standard library alone, so
// that the nested module test/browser can import it without the dependencies of the hub.
package program
