// SPDX-License-Identifier: Apache-2.0

// Package process runs the programs of a control plane as children of this process.
//
// A child does not outlive its parent: on Linux the kernel kills it when the parent dies, even by SIGKILL; elsewhere the next run kills it
// with KillLeftover. Each child has its own process group, so that a Ctrl-C in a terminal reaches only the parent, which then stops its
// children in order. Each child writes its output to a log file; the error of an unexpected exit quotes the end of that file.
package process
