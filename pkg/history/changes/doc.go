// SPDX-License-Identifier: Apache-2.0

// Package changes compares two states of an object that decisions depend on: Between returns the changed fields, with the paths by which ManagerOf
// finds who has written them in the managedFields of the object. A Log keeps recent changes in a bounded number of bytes.
//
// A state that differs in nothing that decisions depend on, as after a heartbeat, costs comparisons of maps and lists, and no memory.
//
// The package is pure, as package history is.
package changes
