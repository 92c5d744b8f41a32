// SPDX-License-Identifier: Apache-2.0

// Package hubflags has the flags that the commands which read a hub have in common, so that each is bound and described once.
//
// Hub selects a live hub as kubectl does, and Files reads one from files; a Source is either, opened from flags. Ask sends questions to the hub for
// users whose rights do not suffice. Settings, Kinds and Labels say how a hub decides, what it delivers and what a command lists. Writes say how
// files are written, and Snapshot names a snapshot. NamedKinds parse names of objects as kubectl does.
//
// A method that checks or parses flags returns an error for the user, which exit.Mistake turns into one of usage.
package hubflags
