// SPDX-License-Identifier: Apache-2.0

// Command work-agent is the work agent of Open Cluster Management as `work agent` runs it, for members of tests and of `placement run`. It
// has a flag for the interval in which the agent applies every ManifestWork again, which is a package variable upstream, and it has neither
// leader election nor a server for its health, so that several agents run on one machine.
package main
