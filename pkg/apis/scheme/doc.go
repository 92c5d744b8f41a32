// SPDX-License-Identifier: Apache-2.0

// Package scheme has the types of all objects that the hub reads or writes.
package scheme
