// SPDX-License-Identifier: Apache-2.0

// Package document is what a report, a difference or a live table says, as plain data: sections with a headline, lines and tables, and names.
//
// Each system renders its results to a Document, and the present state of a hub to a Board, in its own package. What shows them, such as package
// printers and the tables of placement run, knows no system, and needs none of its results.
//
// Texts may be those of users. Whoever shows a Document has to keep them from breaking its layout, or driving a terminal.
//
// The package also has the words that Documents of all systems share. It never reads a State, and never writes to a terminal.
package document
