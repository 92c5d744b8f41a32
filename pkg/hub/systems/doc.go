// SPDX-License-Identifier: Apache-2.0

// Package systems runs the controllers and webhooks of each opt-in system while the API server serves what the system needs: docs/spec/trust.md
// R3.
//
// A system has a cache, a client and controllers of its own, which are built when its CustomResourceDefinitions are served, and ended and dropped
// when one of them goes, is being deleted or is replaced. Kinds that systems share come from the cache of the hub, without the handlers of the
// system once it has ended. The rest of the hub goes on.
//
// It promises: nothing that was read of a definition that has gone answers for one that has come; a system that fails ends no other and no
// process, and starts again; its webhooks answer with a server error while it is off, so that API servers apply the failure policy.
package systems
