// SPDX-License-Identifier: Apache-2.0

package env

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// Kustomization is a kustomization of directories.
type Kustomization struct {
	Resources, Components []string
	// Images are the new tags of images by name.
	Images map[string]string
}

// Write writes the kustomization to an empty directory. kubectl takes relative paths alone, and no symbolic links on the way.
func (k Kustomization) Write(directory string) error {
	place, err := filepath.EvalSymlinks(directory)
	if err != nil {
		return fmt.Errorf("writing a kustomization: %w", err)
	}
	relative := func(paths []string) ([]string, error) {
		var all []string
		for _, path := range paths {
			absolute, err := filepath.Abs(path)
			if err != nil {
				return nil, err //nolint:wrapcheck // The caller wraps it.
			}
			relative, err := filepath.Rel(place, absolute)
			if err != nil {
				return nil, err //nolint:wrapcheck // The caller wraps it.
			}
			all = append(all, relative)
		}
		return all, nil
	}
	resources, err := relative(k.Resources)
	if err != nil {
		return fmt.Errorf("writing a kustomization: %w", err)
	}
	components, err := relative(k.Components)
	if err != nil {
		return fmt.Errorf("writing a kustomization: %w", err)
	}
	type image struct {
		Name   string `json:"name"`
		NewTag string `json:"newTag"`
	}
	var images []image
	for name, tag := range k.Images {
		images = append(images, image{name, tag})
	}
	content, err := yaml.Marshal(struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Resources  []string `json:"resources,omitempty"`
		Components []string `json:"components,omitempty"`
		Images     []image  `json:"images,omitempty"`
	}{"kustomize.config.k8s.io/v1beta1", "Kustomization", resources, components, images})
	if err == nil {
		err = os.WriteFile(filepath.Join(place, "kustomization.yaml"), content, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing a kustomization: %w", err)
	}
	return nil
}
