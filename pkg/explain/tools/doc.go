// SPDX-License-Identifier: Apache-2.0

// Package tools has what the user tools do for each system: a Tool explains the objects of its system, compares them with files that are to be
// applied, and reports and simulates them. The commands and the answers of the hub loop over All and know no system.
//
// Each system has a file with its Tool: placements.go, delivery.go, pods.go and requests.go. The families of a Tool say which questions of users are
// about its objects, and which kinds they have.
//
// The package evaluates by the code of the controllers, reads hubs by hubstate, and writes nothing. It knows no command line.
package tools
