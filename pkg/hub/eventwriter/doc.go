// SPDX-License-Identifier: Apache-2.0

// Package eventwriter writes Kubernetes events (events.k8s.io/v1) with a lower priority than all other writes.
//
// The broadcaster of client-go (tools/events) starts a goroutine for each event, without a bound, which sends a request at once, so that the
// decisions of thousands of new Placements would compete with three events each. Its series leave out the note: events that say different
// things about one object with one reason would become a series of the first. This package sends one request at a time, and makes a long
// pause after it while Placements wait to be reconciled.
//
// Promises: Eventf neither blocks nor sends a request. Events are written in the order in which they were sent. Events with the same
// objects and texts within six minutes become a series, whose count is written when it begins and every six minutes. At most 20,000 events
// wait; while the buffer is full, further events are dropped before their note is formatted. Shutdown takes half a second longer at most. A
// note that is too long for the API server is cut. Lost events are counted in placement_hub_events_total.
package eventwriter
