// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// The bounds of an excerpt, in lines and bytes.
const (
	headLines = 60
	tailLines = 40
	lineBytes = 500
)

// failureMarks begin the description of a failure in the output of a test: in that of Ginkgo, of a panic, and of the race detector.
var failureMarks = []string{"[FAILED]", "panic: ", "fatal error: ", "WARNING: DATA RACE"}

// messageMark begins a message of the package testing, which may be that of the failure or of the log.
var messageMark = regexp.MustCompile(`^\s+\w+_test\.go:\d+: `)

// noise begins lines of `go test -v` that say nothing about a failure.
var noise = []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "}

// routine are lines of the log of a program that are neither warnings nor errors; the whole output has them.
var routine = regexp.MustCompile(`^\s+I\d{4} \d{2}:\d{2}:\d{2}\.\d+ `)

// excerpt keeps a part of an output: the lines from the first mark of a failure on, or else from a late message of the
// package testing on, and the last lines.
type excerpt struct {
	head, tail []string
	failure    bool // whether head begins with a mark of a failure
	left       int  // lines between head and tail that were left out
}

// add adds output, of which each call has whole lines or the last one.
func (e *excerpt) add(output string) {
	for line := range strings.Lines(output) {
		if routine.MatchString(line) || slices.ContainsFunc(noise, func(prefix string) bool { return strings.HasPrefix(line, prefix) }) {
			continue
		}
		e.addLine(clip(strings.TrimRight(line, "\n")))
	}
}

func (e *excerpt) addLine(line string) {
	isFailure := slices.ContainsFunc(failureMarks, func(mark string) bool { return strings.Contains(line, mark) })
	isMessage := messageMark.MatchString(line)
	switch {
	case e.failure:
	case isFailure, isMessage && len(e.head)+len(e.tail) >= headLines:
		*e = excerpt{head: []string{line}, failure: isFailure}
		return
	case isMessage && len(e.head) == 0:
		e.head, e.tail = slices.Concat(e.tail, []string{line}), nil
		return
	}
	if len(e.head) > 0 && len(e.head) < headLines {
		e.head = append(e.head, line)
		return
	}
	if e.tail = append(e.tail, line); len(e.tail) > tailLines {
		e.tail = e.tail[1:]
		e.left++
	}
}

func clip(line string) string {
	if len(line) <= lineBytes {
		return line
	}
	return strings.ToValidUTF8(line[:lineBytes], "") + " ..."
}

// String returns the excerpt with a newline after each line.
func (e *excerpt) String() string {
	var text strings.Builder
	for _, line := range e.head {
		text.WriteString(line + "\n")
	}
	if e.left > 0 {
		fmt.Fprintf(&text, "... (%d lines)\n", e.left)
	}
	for _, line := range e.tail {
		text.WriteString(line + "\n")
	}
	return text.String()
}

// fileEnd returns an excerpt of a file; an error is part of it.
func fileEnd(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	var e excerpt
	e.add(string(content))
	return e.String()
}

// indent indents the lines of a text, and removes the last newline.
func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}
