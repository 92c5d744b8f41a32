// SPDX-License-Identifier: Apache-2.0

// Package leaders has the end-to-end tests of decisions while leaders are killed, lose the lease, or lead twice: it records and judges every
// state of the decisions that the API server showed.
package leaders
