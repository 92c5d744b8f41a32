// SPDX-License-Identifier: Apache-2.0

// Package conformance runs the suite of the module conformance on a real API server: for the hub, as its built binary, and for producers and
// consumers that break one rule each, which the suite must find by that rule and by no other. It is a module of its own, because the module of the
// hub must not depend on the suite: a replacement in its go.mod would keep `go install` of the hub from working, and a copy in vendor/ would have
// to follow each change of the suite.
package conformance
