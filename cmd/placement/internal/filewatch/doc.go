// SPDX-License-Identifier: Apache-2.0

// Package filewatch detects changes of the files of --terminate-on-files.
//
// It promises: only the content of a file counts, or that it appears or disappears, however that came about (written, renamed over,
// replaced by the symlink of a mounted Secret); a change without a notification is found by reading the files periodically.
//
// It never reports a file with unchanged content, and never ends the process itself.
package filewatch
