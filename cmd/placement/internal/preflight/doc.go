// Package preflight asks the hub, before any controller starts, for everything without which one would hang or fail later: an answer,
// the resource definitions, the rights of the process and the place of its lease.
//
// It promises: each request is bounded in time, and an error names what is missing and what to do about it, all missing rights at once.
//
// It never changes anything on the hub; the lease is tried out with a dry run.
package preflight
