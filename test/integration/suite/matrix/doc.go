// SPDX-License-Identifier: Apache-2.0

// Package matrix specifies what every system of the hub does on an API server that fails. Its rows are the faults: requests that fail in every
// way (Requests), resources that cannot be followed while the hub runs (Views) and when it starts (Starts). Its columns are the systems: a
// package of specs calls it in an Ordered container, and says of its system how a subject is made, how it changes, what must hold all the time,
// and how it ends. suite.KillEach, which kills the hub before each write, is the row that systems call themselves.
package matrix
