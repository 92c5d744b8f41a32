// SPDX-License-Identifier: Apache-2.0

// Package system connects the hub to an API server: Setup adds the enabled controllers to a manager, Observe keeps a View up to date without a
// controller. There is no scheduling logic here.
//
// There is one list of systems. The entry of a system has everything that the hub and its commands know of it: its controllers with what they
// need on the hub, its API groups, its flags, its sample. The packages that the controllers of all systems use are
// in pkg/hub.
package system
