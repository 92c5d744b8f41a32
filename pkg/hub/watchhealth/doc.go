// SPDX-License-Identifier: Apache-2.0

// Package watchhealth reports how long the watches of the informers of a process have been broken, so that a standby with an old view is
// not ready to lead.
//
// A watch ends every few minutes and is opened again at once, which does not count as broken. Check fails when a watch has ended and could
// not be opened again for longer than Tolerated. Broken connections are detected by client-go, which closes a connection without a response
// after 45 seconds.
package watchhealth
