// Package filelock holds advisory locks on files between processes.
//
// A lock belongs to the open file, so the operating system releases it when its holder dies, however that happens. It
// promises that two holders of the same path never exist at once, in one process or in several. It never waits.
package filelock
