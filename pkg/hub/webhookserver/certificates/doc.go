// SPDX-License-Identifier: Apache-2.0

// Package certificates computes the serving certificate of the webhook and the certificate authorities that API servers trust:
// Schedule.Next maps the current Material and the time to the next Material.
//
// Promises, while no other client edits the Material: at every moment the certificate is valid, has the host names, and is signed by an
// authority of the bundle. A new authority has been in the bundle for Schedule.Trust before a certificate that only it has signed is
// served, so that every API server trusts it by then. An authority stays in the bundle until it expires. Missing, expired or unreadable
// parts are replaced at once. Next returns Material in which nothing is due unchanged.
//
// The package reads no clock and writes nothing; only keys and serial numbers are random.
package certificates
