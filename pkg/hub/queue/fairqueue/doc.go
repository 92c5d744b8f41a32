// SPDX-License-Identifier: Apache-2.0

// Package fairqueue is the queue of every controller of the hub. It implements the PriorityQueue of controller-runtime, and serves the
// namespaces of one priority in turn, so that the keys of one namespace do not delay those of another.
//
// Promises: a key is in the queue at most once, with the highest priority and the earliest time that it was added with, and is not handed
// out while it is processed. A higher priority goes first. Within a priority, each namespace with keys gives one key per round, and the
// keys of a namespace are taken in the order in which they became ready or got the priority. A namespace has no more workers than are left
// free, so that the keys of another one find a worker. Adding and taking a key is logarithmic in the number of keys. The series workqueue_*
// are those of controller-runtime. No goroutine runs for the queue.
package fairqueue
