// SPDX-License-Identifier: Apache-2.0

// Package decoding reads objects of the hub's own kinds from an API server although some of them hold values that Go cannot decode.
//
// A client of client-go decodes a list as a whole, and ends a watch at the first event that it cannot decode: one ManagedCluster with a
// quantity "1e1.5" then hides all of them. The decoder of this package first decodes strictly, which is as fast as client-go. Where that
// fails, it decodes item by item, omits exactly the fields of an item that fail, and marks the item as package unreadable describes.
// Readers of the object decide by that mark how to treat it.
//
// NewCache returns caches and NewClient returns clients that read in this way. Writes are sent as usual, and their responses are decoded
// strictly.
package decoding
