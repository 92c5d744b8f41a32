// SPDX-License-Identifier: Apache-2.0

// Package lists has lists of objects for people: filtered, sorted, fifty rows at a time. All of the state of a list is in the parameters of its URL,
// so that a link to it shows the same again, and a form without JavaScript changes it.
//
// It reads nothing: an Object is what the caller of a page may read. A List counts what its filters hide.
package lists
