// SPDX-License-Identifier: Apache-2.0

// Package suggest finds the names that a misspelt one may mean, for error messages.
package suggest
