// SPDX-License-Identifier: Apache-2.0

// Package attacks has what the random attacks on a hub begin with: how long they last, the seed that repeats them, and a control plane with the
// manifests of the hub.
package attacks
