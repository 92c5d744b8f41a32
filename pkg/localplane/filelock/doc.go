// SPDX-License-Identifier: Apache-2.0

// Package filelock provides advisory locks on files between processes.
//
// A lock belongs to the open file, so the operating system releases it when its holder dies, in whatever way. Two holders of the same path
// never exist at once, in one process or in several. Try never blocks.
package filelock
