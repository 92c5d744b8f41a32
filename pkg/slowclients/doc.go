// SPDX-License-Identifier: Apache-2.0

// Package slowclients bounds what clients cost that do not take their responses, or send their requests slowly. All servers of the hub use it.
//
// Promises: a response that a client does not take ends ten seconds after its first byte, over HTTP/1.1 and for each stream of HTTP/2. A body that
// does not come ends after five, or after the time of Bodies. A handler that sets deadlines of its own keeps them. The status 429 is sent after two
// seconds, so that a client that tries again at once costs little; at most 256 of them wait.
//
// The package never looks at what is sent, and does not count clients.
package slowclients
