// SPDX-License-Identifier: Apache-2.0

// Package webhook has the admission handler of AccessRequests. It writes the user who creates an AccessRequest, or changes its spec,
// into spec.requester: docs/spec/cluster-request.md 4.1.6.
//
// Promises: what users write into spec.requester never stays, and a change of anything but the spec keeps the requester. The handler answers
// from the review alone: it reads nothing, writes nothing and calls nothing. What it cannot read it refuses.
package webhook
