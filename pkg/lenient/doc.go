// Package lenient reads objects of the hub's own kinds from an API server although some of them hold values that Go cannot decode.
//
// A client of client-go decodes a list as a whole, and ends a watch at the first event that it cannot decode: one ManagedCluster with a
// quantity "1e1.5" then hides all of them. The decoder of this package does the same work once, as fast, while everything can be decoded. When
// the decoder of client-go fails, it decodes item by item, leaves out of a failing item exactly the fields that fail, and marks the item as
// package unreadable says. Whoever reads an object decides by that mark what to make of it.
//
// NewCache makes caches and NewClient makes clients that read in this way. Writes are sent as ever; what an API server answers to them is read
// in this way too.
package lenient
