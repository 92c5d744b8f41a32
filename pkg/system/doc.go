// Package system connects the hub to an API server: Setup adds the enabled controllers to a manager, Observe keeps a View up to date without a
// controller. There is no scheduling logic here.
//
// There is a file for each system. It lists the controllers of the system with what they need on the hub, and calls their packages. The packages
// that the controllers of all systems use are in pkg/hub.
package system
