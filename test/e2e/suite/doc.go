// SPDX-License-Identifier: Apache-2.0

// Package suite is what the end-to-end tests have in common. The packages beside it run the built binary as its users do: newcomers with
// `placement run`, a Deployment with `placement controller`, a reviewer with `placement simulate` and `placement diff`. They see what users
// see: output, exit codes, files, processes, the API server and the HTTPS endpoint.
//
// Main builds the binary for the tests of a package; PLACEMENT_BINARY names another one to test. Each test has a control plane for itself while
// it runs, because most of them stop, kill or misconfigure the controllers.
package suite
