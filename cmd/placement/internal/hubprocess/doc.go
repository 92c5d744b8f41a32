// SPDX-License-Identifier: Apache-2.0

// Package hubprocess is the process of placement controller: its flags and its file of configuration, the connection, the manager with the
// controllers, and what the process serves.
package hubprocess
