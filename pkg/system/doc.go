// Package system connects the hub to an API server: Setup adds the enabled controllers to a manager, Observe keeps a View up to date without a
// controller. There is no scheduling logic here.
//
// There is a file for each system, which lists its controllers with what they need on the hub, and connects them to the packages below the
// system's own. What every controller stands on is below pkg/hub.
package system
