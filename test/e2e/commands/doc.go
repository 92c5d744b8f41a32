// SPDX-License-Identifier: Apache-2.0

// Package commands has the end-to-end tests of the commands that explain: explain, federated, simulate and diff, and of the command line.
package commands
