// SPDX-License-Identifier: Apache-2.0

// Package writes compares on a real API server what placement diff expects of the writes of kubectl with what these writes do: for each field of
// the kinds that it compares, with files that leave it out, empty it or change it, and for objects that were written by client-side apply, by
// server-side apply of kubectl, Argo CD, Helm and an unknown tool, and by kubectl replace. It compares dry runs, the merges of live
// objects, and those of the files that kubectl get prints.
package writes
