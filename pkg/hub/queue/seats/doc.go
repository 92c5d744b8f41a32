// SPDX-License-Identifier: Apache-2.0

// Package seats lets few evaluations use the CPU at a time, whatever the number of workers, and shares the seats between namespaces.
// Workers wait for the API server most of their time and need no seat for that.
//
// Promises: a namespace has more than one seat only while no other namespace waits. Of those that wait, the namespace goes first that has
// used the least CPU time of late. A long evaluation gives its seat up for it within a time slice, at a point of its own choice. A
// namespace that has used much of late gets no further seat while others come that have not, so that the CPU is not always in use where one
// namespace evaluates without end. No goroutine runs for this.
package seats
