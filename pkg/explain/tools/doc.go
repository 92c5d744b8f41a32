// SPDX-License-Identifier: Apache-2.0

// Package tools has what the user tools do for each system: a System has the objects that questions are about, and explains them (Explainer),
// compares them with files that are to be applied (Reader, Differ), and reports and simulates them (Reporter, Simulator). All is the one list of
// systems. The commands and the answers of the hub loop over those that implement an interface (With), and know no system.
//
// Each system has a file: placements.go, delivery.go, pods.go and requests.go. Its categories say which questions of users are about its objects, and
// which kinds they have.
//
// The package evaluates by the code of the controllers, reads hubs by hubstate, and writes nothing. It knows no command line.
package tools
