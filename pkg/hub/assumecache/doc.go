// SPDX-License-Identifier: Apache-2.0

// Package assumecache overlays the objects of an informer cache with the writes of this process until the watch has shown them, as the assume
// cache of kube-scheduler does.
//
// An informer updates its store before it calls its event handlers, and different goroutines see the two. So a Cache keeps a write until an
// event of it, or of a later state, was handled, and not only until the store shows it. It promises:
//
//   - List returns what the store holds with every write that was assumed and not refuted.
//   - Observe distinguishes events that only confirm own writes from events of writes by others. While an owner is paused, it defers the
//     decision, because a watch may show a write before its response has arrived.
//   - A write whose event does not come is kept. Expired returns it from time to time, so that the caller can ask the API server.
//
// Owners group the objects that are written together, such as the pages of one Placement. All methods are safe for concurrent use.
package assumecache
