// SPDX-License-Identifier: Apache-2.0

// Package extracache adds caches beside that of the manager, for kinds of which a controller reads other objects than the rest of the hub.
//
// It promises that such a cache runs on every replica. The controllers of a standby warm up before it has the lease, so a cache that waited for
// the lease would end the process: docs/spec/trust.md R4. All extra caches are made here, which test/laws checks.
package extracache
