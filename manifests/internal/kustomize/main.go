// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/placement-hub/placement-hub/manifests"
)

const file = "kustomization.yaml"

func main() {
	in := flag.String("manifests", ".", "directory of the manifests")
	components := flag.String("components", "../deploy/components", "directory of the components")
	flag.Parse()
	for _, system := range manifests.Systems() {
		if err := write(*in, *components, system); err != nil {
			fmt.Fprintln(os.Stderr, "kustomize:", err)
			os.Exit(1)
		}
	}
}

// write writes the two files of a system.
func write(in, components, system string) error {
	resources, err := resourcesIn(filepath.Join(in, system))
	if err != nil {
		return err
	}
	directory := filepath.Join(components, system)
	if err := os.MkdirAll(directory, 0o755); err != nil { //nolint:gosec // Readable like its neighbours.
		return fmt.Errorf("making the directory of a component: %w", err)
	}
	err = writeBelow(filepath.Join(in, system, file), kustomizationComment(system), "apiVersion: kustomize.config.k8s.io/v1beta1\n"+
		"kind: Kustomization\nresources:\n- "+strings.Join(resources, "\n- ")+"\n")
	if err != nil {
		return err
	}
	return writeBelow(filepath.Join(directory, file), componentComment(system), component(system))
}

// resourcesIn returns the sorted names of the YAML files in a directory, but for the kustomization.
func resourcesIn(directory string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("looking for manifests: %w", err)
	}
	var names []string
	for _, path := range paths {
		if name := filepath.Base(path); name != file {
			names = append(names, name)
		}
	}
	return names, nil
}

// writeBelow writes a file whose beginning is a comment: that of the file that is there, or else the given one.
func writeBelow(path, comment, content string) error {
	present, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("reading a kustomization: %w", err)
	default:
		comment, _, _ = strings.Cut(string(present), "apiVersion:")
	}
	if err := os.WriteFile(path, []byte(comment+content), 0o644); err != nil { //nolint:gosec // Readable like its neighbours.
		return fmt.Errorf("writing a kustomization: %w", err)
	}
	return nil
}

func kustomizationComment(system string) string {
	return `# What the controllers "` + system + `/*" need. It is not a part of the hub itself; deploy/components/` + system +
		` adds it to one, with the
# controllers.
`
}

func componentComment(system string) string {
	return "# Adds the system " + system + ` to a hub: its manifests and its controllers. Use it from a kustomization of your own:
#   resources: [../base]
#   components: [../components/` + system + `]
# The flag --controllers adds to the ones before it, so that components can be combined.
`
}

func component(system string) string {
	return `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources:
- ../../../manifests/` + system + `
patches:
- target:
    kind: Deployment
    name: placement-hub-controller
  patch: |-
    - op: add
      path: /spec/template/spec/containers/0/args/-
      value: --controllers=` + system + `/*
`
}
