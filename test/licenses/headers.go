// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// header is the SPDX line of each Go file of this repository.
const header = "// SPDX-License-Identifier: Apache-2.0\n"

// goSources returns the Go files of a repository except those in vendor/, testdata, bin/ and hidden directories.
func goSources(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err //nolint:wrapcheck // It is wrapped below.
		}
		switch name := entry.Name(); {
		case entry.IsDir() && relative != "." && (isOutside(relative) || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, ".go"):
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for Go files: %w", err)
	}
	return files, nil
}

// hasHeader reports whether the SPDX line stands before the package clause; generators write it below a build constraint.
func hasHeader(source []byte) bool {
	for line := range bytes.Lines(source) {
		if string(line) == header {
			return true
		}
		if bytes.HasPrefix(line, []byte("package ")) {
			return false
		}
	}
	return false
}

// withHeader returns the source with the SPDX line at its beginning. The line is separated by an empty line, so that it is neither part of the
// comment of the package nor of a build constraint.
func withHeader(source []byte) []byte { return append([]byte(header+"\n"), source...) }

// addHeaders writes the SPDX line to each Go file without one.
func addHeaders(root string) error {
	files, err := goSources(root)
	if err != nil {
		return err
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a Go file: %w", err)
		}
		if hasHeader(source) {
			continue
		}
		if err := os.WriteFile(file, withHeader(source), 0o644); err != nil {
			return fmt.Errorf("adding the SPDX line: %w", err)
		}
	}
	return nil
}
