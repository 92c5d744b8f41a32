// SPDX-License-Identifier: Apache-2.0

// Package preflight checks the prerequisites of the controllers on the hub before any of them starts: its response, the served resources,
// the rights of the process and the namespace of its lease.
//
// It promises: each request is bounded in time, and an error names what is missing and what to do about it, all missing rights at once.
//
// It never changes anything on the hub; the lease is created with a dry run only.
package preflight
