// SPDX-License-Identifier: Apache-2.0

// Package faults holds the specs of placements on an API server that fails: requests, watches and views by the table of matrix, and besides
// objects that cannot be decoded and an API server that gives no answer.
package faults
