// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
)

// The linker sets these: -X main.version=v1.2.3 -X main.commit=0123abc. If empty, the build information of the binary is used.
var (
	version string
	commit  string
)

// reportedModules are the modules whose versions decide which API the binary speaks.
var reportedModules = []string{
	"k8s.io/api",
	"k8s.io/client-go",
	"open-cluster-management.io/api",
	"sigs.k8s.io/controller-runtime",
}

// buildVersion describes the build of the binary.
type buildVersion struct {
	Version   string            `json:"version"`
	Commit    string            `json:"commit"`
	GoVersion string            `json:"goVersion"`
	Platform  string            `json:"platform"`
	Modules   map[string]string `json:"modules"`
}

func newVersionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary and of the APIs it was built with",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd.OutOrStdout(), output, thisBuild())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "Output format: text, json or yaml.")
	return cmd
}

// newBuildVersion prefers the values of the linker; info may be nil.
func newBuildVersion(version, commit string, info *debug.BuildInfo) buildVersion {
	v := buildVersion{
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

// thisBuild describes the build of this binary.
func thisBuild() buildVersion {
	info, _ := debug.ReadBuildInfo()
	return newBuildVersion(version, commit, info)
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

func printVersion(out io.Writer, format string, v buildVersion) error {
	var text []byte
	var err error
	switch format {
	case "text":
		text = v.text()
	case "json":
		text, err = json.MarshalIndent(v, "", "  ")
		text = append(text, '\n')
	case "yaml":
		text, err = yaml.Marshal(v)
	default:
		return exit.Mistake(fmt.Errorf("--output: unknown format %q; use text, json or yaml", format))
	}
	if err != nil {
		return fmt.Errorf("encoding the version as %s: %w", format, err)
	}
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("printing the version: %w", err)
	}
	return nil
}

func (v buildVersion) text() []byte {
	text := fmt.Appendf(nil, "placement %s\ncommit    %s\ngo        %s %s\n", v.Version, v.Commit, v.GoVersion, v.Platform)
	for _, path := range reportedModules {
		if moduleVersion, ok := v.Modules[path]; ok {
			text = fmt.Appendf(text, "%s %s\n", path, moduleVersion)
		}
	}
	return text
}
