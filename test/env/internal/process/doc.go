// Package process runs the programs of a control plane as children of this process.
//
// It promises that a child does not outlive its parent: on Linux the kernel kills it when the parent dies, even by
// SIGKILL; elsewhere KillLeftover lets the next run remove it. Each child has its own process group, so that a Ctrl-C in a
// terminal reaches the parent alone, which then stops its children in order. Output goes to a log file per child; an
// unexpected exit is reported with the end of that file.
package process
