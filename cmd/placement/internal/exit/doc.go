// SPDX-License-Identifier: Apache-2.0

// Package exit has the exit codes of all commands, and the errors that end a command with one of them.
package exit
