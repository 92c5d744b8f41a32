// SPDX-License-Identifier: Apache-2.0

// Package access holds the specs of admission: policies about placements, bindings and clusters, roles for people, messages and the vocabulary.
package access
