// SPDX-License-Identifier: Apache-2.0

// Package localhub is what placement run does: a control plane on this machine, or a connection to one, the controllers in the same process, and
// a view of the decisions until the command ends.
package localhub
