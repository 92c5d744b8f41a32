// SPDX-License-Identifier: Apache-2.0

// Package history has what happened to decisions (docs/spec/history.md): a Move says which clusters a decision gained and lost, by which changes of
// which objects, and why by the words of the evaluation. Move.Sentence says it in a line.
//
// A Ring keeps Moves in a bounded number of bytes. When it is full, the oldest Move of the namespace that holds most of them goes, so that a tenant
// whose decisions change all the time pushes out none but the tenant's own. Shares is that rule for any kind of rows.
//
// The package is pure: it talks to no API server and reads no clock. The sub-package changes compares states of objects, and recorder feeds a Ring
// from the informers of a hub.
package history
