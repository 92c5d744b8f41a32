// Package election agrees with other processes on the one that runs the controllers, by a Lease.
//
// It differs from client-go's elector in one thing: a standby looks at the lease every second, so that it takes a released lease within
// about two seconds, while the leader renews it no more often than Options.RetryPeriod says (see Lock).
//
// It promises: two processes never lead at the same time, a leader that is cut off stops before the next one may start, and one that
// neither renews nor ends fails its liveness check. It never answers a read of the lease from memory.
package election
