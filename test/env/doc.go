// Package env finds helm, which tests run. Below it are the command that builds a control plane and programs of Open Cluster Management
// (assets), and a proxy that breaks requests to an API server (faults).
//
// pkg/localplane starts the control plane and finds these programs.
package env
