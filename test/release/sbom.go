// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

const (
	mainModule = "github.com/placement-hub/placement-hub"
	// standardLibrary is the name of the package of the Go distribution.
	standardLibrary = "stdlib"
	noAssertion     = "NOASSERTION"
	mainElement     = "placement-hub"
)

// builtFrom returns the modules that binaries were built from with their versions, and the version of Go.
func builtFrom(binaries map[string][]byte) (modules map[string]string, goVersion string, err error) {
	modules = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(binaries)) {
		info, err := buildinfo.Read(bytes.NewReader(binaries[name]))
		if err != nil {
			return nil, "", fmt.Errorf("reading the build information of %s: %w", name, err)
		}
		if info.Main.Path != mainModule {
			return nil, "", fmt.Errorf("%s was built from %q", name, info.Main.Path)
		}
		if goVersion != "" && info.GoVersion != goVersion {
			return nil, "", fmt.Errorf("%s was built with %s, others with %s", name, info.GoVersion, goVersion)
		}
		goVersion = info.GoVersion
		for _, dependency := range info.Deps {
			if dependency.Replace != nil {
				dependency = dependency.Replace
			}
			if other := modules[dependency.Path]; other != "" && other != dependency.Version {
				return nil, "", fmt.Errorf("%s has %s %s, others %s", name, dependency.Path, dependency.Version, other)
			}
			modules[dependency.Path] = dependency.Version
		}
	}
	return modules, goVersion, nil
}

// newSBOM describes what was built: the product, the modules with the hashes of go.sum and the licenses of docs/third-party.md, and Go.
func newSBOM(root string, o *options, modules map[string]string, goVersion string) (*spdx.Document, error) {
	hashes, err := readHashes(root)
	if err != nil {
		return nil, err
	}
	licenses, err := readLicenses(root)
	if err != nil {
		return nil, err
	}
	document := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: "placement-hub " + o.version,
		DocumentNamespace: fmt.Sprintf("https://%s/sbom/%s/%s", mainModule, o.version, o.commit),
		CreationInfo: &spdx.CreationInfo{
			Created: o.time().Format(time.RFC3339),
			Creators: []common.Creator{
				{CreatorType: "Tool", Creator: "placement-hub-release"}, {CreatorType: "Organization", Creator: "The placement-hub Authors"},
			},
		},
		Packages: []*spdx.Package{
			newPackage(mainElement, mainModule, o.version, "Apache-2.0"), newPackage(standardLibrary, standardLibrary, goVersion, "BSD-3-Clause"),
		},
		Relationships: []*spdx.Relationship{{
			RefA: common.MakeDocElementID("", "DOCUMENT"), RefB: common.MakeDocElementID("", mainElement),
			Relationship: common.TypeRelationshipDescribe,
		}},
	}
	document.Packages[0].PackageSourceInfo = "commit " + o.commit
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		version := modules[path]
		hash, license := hashes[path+" "+version], licenses[path]
		if hash == "" || license == "" {
			return nil, fmt.Errorf("%s %s: no hash in go.sum, or no license in docs/third-party.md", path, version)
		}
		p := newPackage(element(path), path, version, license)
		p.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: hash}}
		p.PackageExternalReferences = []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: "pkg:golang/" + path + "@" + version,
		}}
		document.Packages = append(document.Packages, p)
	}
	for _, p := range document.Packages[1:] {
		document.Relationships = append(document.Relationships, &spdx.Relationship{
			RefA: common.MakeDocElementID("", mainElement), RefB: common.MakeDocElementID("", string(p.PackageSPDXIdentifier)),
			Relationship: common.TypeRelationshipDependsOn,
		})
	}
	return document, nil
}

func newPackage(id, name, version, license string) *spdx.Package {
	return &spdx.Package{
		PackageName: name, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: version, PackageDownloadLocation: noAssertion,
		FilesAnalyzed: false, IsFilesAnalyzedTagPresent: true,
		PackageLicenseDeclared: license, PackageLicenseConcluded: license, PackageCopyrightText: noAssertion,
	}
}

var notInElement = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// element returns the identifier of a module, which has letters, digits, dots and dashes alone.
func element(path string) string { return "module-" + notInElement.ReplaceAllString(path, "-") }

// readHashes returns the hash of each module in go.sum, in hexadecimal digits.
func readHashes(root string) (map[string]string, error) {
	content, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return nil, fmt.Errorf("reading hashes: %w", err)
	}
	hashes := map[string]string{}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || strings.HasSuffix(fields[1], "/go.mod") {
			continue
		}
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(fields[2], "h1:"))
		if err != nil {
			return nil, fmt.Errorf("go.sum: %s: %w", fields[0], err)
		}
		hashes[fields[0]+" "+fields[1]] = hex.EncodeToString(sum)
	}
	return hashes, nil
}

var licenseRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| \\S+ \\| ([^|]+) \\|$")

// readLicenses returns the licenses of modules as SPDX expressions.
func readLicenses(root string) (map[string]string, error) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "third-party.md"))
	if err != nil {
		return nil, fmt.Errorf("reading licenses: %w", err)
	}
	licenses := map[string]string{}
	for _, row := range licenseRow.FindAllStringSubmatch(string(page), -1) {
		licenses[row[1]] = strings.ReplaceAll(row[2], ", ", " AND ")
	}
	return licenses, nil
}

// checkSBOM compares an SBOM with the modules that binaries were built from, and its hashes with those of go.sum that it has.
func checkSBOM(document *spdx.Document, root string, modules map[string]string, goVersion string) error {
	hashes, err := readHashes(root)
	if err != nil {
		return err
	}
	var failures []error
	listed := map[string]string{}
	for _, p := range document.Packages {
		switch p.PackageName {
		case mainModule:
		case standardLibrary:
			if p.PackageVersion != goVersion {
				failures = append(failures, fmt.Errorf("the SBOM has Go %s, the binaries %s", p.PackageVersion, goVersion))
			}
		default:
			listed[p.PackageName] = p.PackageVersion
			want := hashes[p.PackageName+" "+p.PackageVersion]
			if want != "" && (len(p.PackageChecksums) != 1 || p.PackageChecksums[0].Value != want) {
				failures = append(failures, fmt.Errorf("the SBOM has another hash of %s %s than go.sum", p.PackageName, p.PackageVersion))
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		if listed[path] != modules[path] {
			failures = append(failures, fmt.Errorf("the binaries have %s %s, the SBOM %q", path, modules[path], listed[path]))
		}
		delete(listed, path)
	}
	for _, path := range slices.Sorted(maps.Keys(listed)) {
		failures = append(failures, fmt.Errorf("the SBOM has %s, the binaries do not", path))
	}
	return errors.Join(failures...)
}

func encodeSBOM(document *spdx.Document) ([]byte, error) {
	var out bytes.Buffer
	if err := spdxjson.Write(document, &out, spdxjson.Indent("  ")); err != nil {
		return nil, fmt.Errorf("encoding the SBOM: %w", err)
	}
	return append(bytes.TrimSpace(out.Bytes()), '\n'), nil
}

func decodeSBOM(content []byte) (*spdx.Document, error) {
	document, err := spdxjson.Read(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("decoding the SBOM: %w", err)
	}
	return document, nil
}
