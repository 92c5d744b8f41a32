// SPDX-License-Identifier: Apache-2.0

// Command table writes the table of the time series of the hub into a document, between two markers.
package main
