// SPDX-License-Identifier: Apache-2.0

// Package writes knows how manifests are written to a hub, and carries out server-side apply without an API server.
//
// Of says how an object was written last, by its managedFields: by server-side apply of kubectl, Argo CD, Helm or Flux, or by the client-side apply
// of kubectl. Of other tools, and of Helm 3, it says the field manager. Types.Apply does what an API server does with an apply patch: by the packages
// managedfields and structured-merge-diff, with the types of CustomResourceDefinitions and of client-go. No type is deduced from an object, because
// lists would be atomic then.
//
// The package never talks to an API server, never opens a file and never reads a clock.
package writes
