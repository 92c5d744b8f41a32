// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"golang.org/x/mod/module"
)

// Version and Commit are those that the linker has set, if it has. Otherwise the build information of the binary is used.
var (
	Version string
	Commit  string
)

// reportedModules are the modules whose versions decide which API the binary speaks.
var reportedModules = []string{
	"k8s.io/api",
	"k8s.io/client-go",
	"open-cluster-management.io/api",
	"sigs.k8s.io/controller-runtime",
}

// Info describes the build of the binary.
type Info struct {
	Version   string            `json:"version"`
	Commit    string            `json:"commit"`
	GoVersion string            `json:"goVersion"`
	Platform  string            `json:"platform"`
	Modules   map[string]string `json:"modules"`
}

// newInfo prefers the values of the linker; info may be nil.
func newInfo(version, commit string, info *debug.BuildInfo) Info {
	v := Info{
		Version:   version,
		Commit:    commit,
		GoVersion: runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		Modules:   map[string]string{},
	}
	if info != nil {
		if v.Version == "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		if v.Commit == "" {
			v.Commit = buildCommit(info.Settings)
		}
		for _, dep := range info.Deps {
			if dep.Replace != nil {
				dep = dep.Replace
			}
			if slices.Contains(reportedModules, dep.Path) {
				v.Modules[dep.Path] = dep.Version
			}
		}
	}
	if v.Version == "" {
		v.Version = "devel"
	}
	if v.Commit == "" {
		v.Commit = pseudoCommit(v.Version)
	}
	if v.Commit == "" {
		v.Commit = "unknown"
	}
	return v
}

// This describes the build of this binary.
func This() Info {
	info, _ := debug.ReadBuildInfo()
	return newInfo(Version, Commit, info)
}

// pseudoCommit returns the abbreviated commit in a version of a module that has no tag, which is all that `go install` knows; "" if there is none.
func pseudoCommit(version string) string {
	if !module.IsPseudoVersion(version) {
		return ""
	}
	revision, err := module.PseudoVersionRev(version)
	if err != nil {
		return ""
	}
	return revision
}

func buildCommit(settings []debug.BuildSetting) string {
	var revision, dirty string
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}

// Text is the build as `placement version` prints it.
func (i Info) Text() []byte {
	text := fmt.Appendf(nil, "placement %s\ncommit    %s\ngo        %s %s\n", i.Version, i.Commit, i.GoVersion, i.Platform)
	for _, path := range reportedModules {
		if moduleVersion, ok := i.Modules[path]; ok {
			text = fmt.Appendf(text, "%s %s\n", path, moduleVersion)
		}
	}
	return text
}
