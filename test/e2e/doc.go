// Package e2e runs the built binary as its users do: newcomers with `placement run`, a Deployment with `placement controller`, a
// reviewer with `placement simulate` and `placement diff`. It sees what they see: output, exit codes, files, processes, the API server
// and the HTTPS endpoint.
//
// The tests build the binary themselves; PLACEMENT_BINARY names another one to test.
package e2e
