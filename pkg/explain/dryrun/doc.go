// SPDX-License-Identifier: Apache-2.0

// Package dryrun asks an API server what it would store if the objects of files were written.
//
// Ask sends the writes themselves with dryRun=All, as kubectl sends them, so that defaults, admission, conversion and field managers are those of
// the API server. An answer says what it would store, or why it refuses the write. What cannot be asked has no answer but a reason: the user may
// not get or write the object, its Namespace is in the same files, its definition is not installed, or a webhook takes no dry runs.
//
// Nothing is stored. The live objects, which Ask reads first, are part of the answers.
package dryrun
