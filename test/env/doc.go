// Package env finds programs of Open Cluster Management that tests run as consumers of decisions. Below it are the command that builds these
// programs and a control plane (assets), and a proxy that breaks requests to an API server (faults).
//
// pkg/localplane starts the control plane.
package env
