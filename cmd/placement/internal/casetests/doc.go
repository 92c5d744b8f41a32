// SPDX-License-Identifier: Apache-2.0

// Package casetests is what placement test does: it reads cases and the objects of a hub, evaluates the cases, and prints which of them hold.
package casetests
