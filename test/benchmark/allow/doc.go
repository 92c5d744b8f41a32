// SPDX-License-Identifier: Apache-2.0

// Command allow is an admission webhook that allows every request without looking at its object: the floor of the scenario admission. No
// webhook can answer sooner.
//
// It serves HTTPS on a free port of loopback, and prints one line of JSON with its URL and the certificate authority to trust.
package main
