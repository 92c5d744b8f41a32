// Package filewatch notices that one of the files of --terminate-on-files has changed.
//
// It promises: what counts is the content of a file, or that it appears or goes, and not how that came about (written, renamed over,
// swapped by the link of a mounted Secret); a change that nobody notifies of is seen by reading the files again and again.
//
// It never reports a file whose content is what it was, and never ends the process itself.
package filewatch
