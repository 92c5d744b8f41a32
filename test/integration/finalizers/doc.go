// SPDX-License-Identifier: Apache-2.0

// Package finalizers tests who may take the finalizers of the hub and of providers off objects (docs/spec/trust.md R7, T19): for every finalizer
// of every system, in every way in which a user can write an object.
package finalizers
