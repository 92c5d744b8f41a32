// SPDX-License-Identifier: Apache-2.0

// Package timeline draws when clusters were in a decision: each line has bars on an axis that ends now. It draws from the changes that are known.
// Where they contradict each other, because one between them was not seen, a bar says that the time is not known.
//
// The package is pure: the time is an argument. Its numbers are percentages of the axis, which any width has room for.
package timeline
