// SPDX-License-Identifier: Apache-2.0

// Package terminal says what can be printed on the output of a command: colours, and how many columns.
package terminal
