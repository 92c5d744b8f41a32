// SPDX-License-Identifier: Apache-2.0

// Package election elects the process that runs the controllers, by a Lease.
//
// It differs from client-go's elector in one way: a standby reads the Lease every second, so that it acquires a released Lease within about
// two seconds, while the leader renews it no more often than Options.RetryPeriod (see Lock).
//
// It promises: two processes never lead at the same time, a disconnected leader stops before the next one may start, and a leader that
// neither renews nor ends fails its liveness check. It never serves a read of the Lease from memory.
package election
