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

// module is a module in vendor/ with its licenses.
type module struct {
	path, version string
	licenses      []string // SPDX identifiers, sorted
	texts         []string // files with licenses, notices and patent grants, below the root of the repository
}

var (
	licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-._].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|patents)([-._].*)?$`)
	// moduleLine matches a line of vendor/modules.txt that begins a module, with its replacement if it has one.
	moduleLine = regexp.MustCompile(`^# (\S+) (v\S+)(?: => (\S+)(?: (v\S+))?)?$`)
)

// vendored returns the modules of vendor/ from which packages are built, sorted. The errors name every file with a license that is unknown and
// every module without one.
func vendored(repository fs.FS) ([]module, error) {
	content, err := fs.ReadFile(repository, "vendor/modules.txt")
	if err != nil {
		return nil, fmt.Errorf("reading the list of modules: %w", err)
	}
	var modules []module
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if match := moduleLine.FindStringSubmatch(line); match != nil {
			modules = append(modules, module{path: match[1], version: match[2]})
		}
	}
	modules = slices.DeleteFunc(modules, func(m module) bool {
		_, err := fs.Stat(repository, path.Join("vendor", m.path))
		return errors.Is(err, fs.ErrNotExist) // No package of it is built.
	})
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })

	failures, err := readLicenses(repository, modules)
	if err != nil {
		return nil, fmt.Errorf("looking for licenses: %w", err)
	}
	for i := range modules {
		m := &modules[i]
		slices.Sort(m.licenses)
		m.licenses = slices.Compact(m.licenses)
		if !slices.ContainsFunc(m.texts, func(file string) bool {
			return path.Dir(file) == path.Join("vendor", m.path) && licenseFile.MatchString(path.Base(file))
		}) {
			failures = append(failures, fmt.Errorf("vendor/%s has no license", m.path))
		}
	}
	return modules, errors.Join(failures...)
}

// readLicenses adds the license and notice files of vendor/ to their modules, and returns what is wrong with some.
func readLicenses(repository fs.FS, modules []module) (failures []error, err error) {
	err = fs.WalkDir(repository, "vendor", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(file, ".go") {
			return err
		}
		isLicense := licenseFile.MatchString(entry.Name())
		if !isLicense && !noticeFile.MatchString(entry.Name()) {
			return nil
		}
		owner := ownerOf(modules, strings.TrimPrefix(file, "vendor/"))
		if owner == nil {
			failures = append(failures, fmt.Errorf("%s belongs to no module of vendor/modules.txt", file))
			return nil
		}
		owner.texts = append(owner.texts, file)
		if !isLicense {
			return nil
		}
		text, err := fs.ReadFile(repository, file)
		if err != nil {
			return fmt.Errorf("reading a license: %w", err)
		}
		ids := identify(string(text))
		if len(ids) == 0 {
			failures = append(failures, fmt.Errorf("%s: this license is not recognised, or not permitted", file))
		}
		owner.licenses = append(owner.licenses, ids...)
		return nil
	})
	return failures, err //nolint:wrapcheck // The caller says what it is for.
}

// ownerOf returns the module with the longest path that has a file.
func ownerOf(modules []module, file string) *module {
	var owner *module
	for i, m := range modules {
		if strings.HasPrefix(file, m.path+"/") && (owner == nil || len(m.path) > len(owner.path)) {
			owner = &modules[i]
		}
	}
	return owner
}
