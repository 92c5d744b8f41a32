// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
)

// Install applies the CustomResourceDefinitions and RBAC of the hub, as a step, and with multicluster those of multicluster.x-k8s.io.
func Install(ctx context.Context, config *rest.Config, progress *live.Progress, multicluster bool) error {
	return progress.Do("installing CustomResourceDefinitions and RBAC", func() error {
		err := manifests.Install(ctx, config)
		if err == nil && multicluster {
			err = manifests.InstallMulticluster(ctx, config)
		}
		return err
	})
}

// InstallBeside is Install for a cluster that others use too. It says which definitions are left as they are.
func InstallBeside(ctx context.Context, config *rest.Config, progress *live.Progress, multicluster bool) error {
	var left []string
	err := progress.Do("installing CustomResourceDefinitions and RBAC", func() (err error) {
		left, err = manifests.InstallBeside(ctx, config, multicluster)
		return err
	})
	for _, sentence := range left {
		err = errors.Join(err, progress.Printf("%s", sentence))
	}
	return err
}

// ApplySamples applies the sample objects, as a step.
func ApplySamples(ctx context.Context, config *rest.Config, progress *live.Progress) error {
	objects, err := sampleObjects(samples.Files(), "*.yaml")
	if err != nil {
		return err
	}
	what := fmt.Sprintf("applying the sample world (%d objects)", len(objects))
	return progress.Do(what, func() error { return manifests.Apply(ctx, config, objects) })
}

// sampleObjects returns the objects in the files that match a pattern, in the order in which they are applied.
func sampleObjects(files fs.FS, pattern string) ([]*unstructured.Unstructured, error) {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, fmt.Errorf("reading the samples: %w", err)
	}
	var objects []*unstructured.Unstructured
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading the samples: %w", err)
		}
		decoded, err := manifests.Decode(bytes.NewReader(content), name)
		if err != nil {
			return nil, err
		}
		objects = append(objects, decoded...)
	}
	return objects, nil
}
