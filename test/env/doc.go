// SPDX-License-Identifier: Apache-2.0

// Package env finds the tools that tests run, as helm. Below it are the command that builds a control plane and programs of Open Cluster Management
// (assets), free addresses (loopback), a proxy that breaks requests to an API server (faults), what attacks of tenants and agents have in common
// (attacks), and the control planes that tests take one after the other (planes).
//
// pkg/localplane starts the control plane and finds these programs.
package env
