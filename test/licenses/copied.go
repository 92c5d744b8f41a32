// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// copied is a work of others of which the tree has files outside of vendor/. Tests use it, and neither a binary nor a release has it.
type copied struct {
	directory, name string
	// versionFile has the version, which the expression matches.
	versionFile string
	version     *regexp.Regexp
}

// copies are all such works.
var copies = []copied{
	{directory: "test/browser/axe", name: "axe-core", versionFile: "axe.min.js", version: regexp.MustCompile(`^/\*! axe (v\d+\.\d+\.\d+)\n`)},
}

// ours are the directories that have the license of this project: its modules that others use alone have a copy.
var ours = []string{".", "conformance"}

// copiedWorks returns the works with their licenses. The errors name every file with a license that is unknown or that belongs to none of them,
// and every work without one or with an unknown version.
func copiedWorks(repository fs.FS, works []copied) ([]module, error) {
	found := make([]module, len(works))
	var failures []error
	for i, w := range works {
		found[i].path = w.directory
		content, err := fs.ReadFile(repository, path.Join(w.directory, w.versionFile))
		if err != nil {
			return nil, fmt.Errorf("reading the version of %s: %w", w.name, err)
		}
		if match := w.version.FindSubmatch(content); match != nil {
			found[i].version = string(match[1])
		} else {
			failures = append(failures, fmt.Errorf("%s/%s has no version", w.directory, w.versionFile))
		}
	}
	files, err := licensesOutside(repository)
	if err != nil {
		return nil, err
	}
	for file, text := range files {
		owner := ownerOf(found, file)
		if owner == nil {
			failures = append(failures, fmt.Errorf("%s: whose work is this? write it into copies (test/licenses) and NOTICE", file))
			continue
		}
		ids := identify(text)
		if len(ids) == 0 {
			failures = append(failures, fmt.Errorf("%s: this license is not recognised, or not permitted", file))
		}
		owner.licenses = append(owner.licenses, ids...)
	}
	for i := range found {
		if len(found[i].licenses) == 0 {
			failures = append(failures, fmt.Errorf("%s has no license", found[i].path))
		}
		slices.Sort(found[i].licenses)
		found[i].licenses = slices.Compact(found[i].licenses)
	}
	return found, errors.Join(failures...)
}

// licensesOutside returns the texts of the files with licenses outside of vendor/, except that of the repository itself.
func licensesOutside(repository fs.FS) (map[string]string, error) {
	texts := map[string]string{}
	err := fs.WalkDir(repository, ".", func(file string, entry fs.DirEntry, err error) error {
		name := path.Base(file)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != "." && (isOutside(file) || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case entry.IsDir() || slices.Contains(ours, path.Dir(file)) || strings.HasSuffix(name, ".go") || !licenseFile.MatchString(name):
			return nil
		}
		text, err := fs.ReadFile(repository, file)
		texts[file] = string(text)
		return err //nolint:wrapcheck // It is wrapped below.
	})
	if err != nil {
		return nil, fmt.Errorf("looking for licenses outside of vendor/: %w", err)
	}
	return texts, nil
}

// isOutside reports whether a top-level directory has nothing that is written here.
func isOutside(directory string) bool {
	return slices.Contains([]string{"vendor", "bin", "dist"}, directory)
}
