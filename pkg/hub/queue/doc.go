// SPDX-License-Identifier: Apache-2.0

// Package queue configures how every controller of the hub processes its queue: the number of workers, the timeout of a reconcile, the backoff
// of errors, the quiet backoff of conflicts, the priorities of keys, the turns of namespaces within a priority (see fairqueue), and how many
// evaluations use the CPU at a time (see seats).
//
// Promises: only the leader reconciles, while a standby keeps its queue and caches warm; an error is retried within a minute; a conflict is
// neither logged nor counted as an error; many keys of one namespace do not delay the keys of another.
package queue
