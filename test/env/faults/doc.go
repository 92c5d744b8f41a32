// SPDX-License-Identifier: Apache-2.0

// Package faults provides a proxy between a client and a real API server that breaks chosen requests: it responds with an error status,
// does not respond, drops the connection, forwards the request and drops the response, or delays the response. It can also refuse every
// connection for a while.
//
// The proxy listens on loopback with a certificate of its own and forwards the bearer token of the client. It records every request, broken
// or not, which shows whether a client retries too often. It never changes the body of a request or of a response.
package faults
