// SPDX-License-Identifier: Apache-2.0

package crdsource

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// api is the prefix of the import paths of the packages with the definitions.
const api = "open-cluster-management.io/api/"

// definitions maps the file of a definition below manifests, <directory>/<group>_<plural>.yaml, to its package below api and its file there.
var definitions = map[string]struct{ pkg, file string }{
	"crds/cluster.open-cluster-management.io_managedclusters.yaml": {
		"cluster/v1", "0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml"},
	"crds/cluster.open-cluster-management.io_managedclustersets.yaml": {
		"cluster/v1beta2", "0000_00_clusters.open-cluster-management.io_managedclustersets.crd.yaml"},
	"crds/cluster.open-cluster-management.io_managedclustersetbindings.yaml": {
		"cluster/v1beta2", "0000_01_clusters.open-cluster-management.io_managedclustersetbindings.crd.yaml"},
	"crds/cluster.open-cluster-management.io_placements.yaml": {
		"cluster/v1beta1", "0000_02_clusters.open-cluster-management.io_placements.crd.yaml"},
	"crds/cluster.open-cluster-management.io_placementdecisions.yaml": {
		"cluster/v1beta1", "0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml"},
	"crds/cluster.open-cluster-management.io_addonplacementscores.yaml": {
		"cluster/v1alpha1", "0000_05_clusters.open-cluster-management.io_addonplacementscores.crd.yaml"},
	"manifestworks/work.open-cluster-management.io_manifestworks.yaml": {
		"work/v1", "0000_00_work.open-cluster-management.io_manifestworks.crd.yaml"},
}

// Read returns the definitions by the names of their files below manifests. It runs the go command in the current directory to find the
// packages, so that go.mod and vendor both apply.
func Read(ctx context.Context) (map[string][]byte, error) {
	contents := make(map[string][]byte, len(definitions))
	dirs := map[string]string{}
	for name, source := range definitions {
		dir, known := dirs[source.pkg]
		if !known {
			var err error
			if dir, err = packageDir(ctx, api+source.pkg); err != nil {
				return nil, err
			}
			dirs[source.pkg] = dir
		}
		content, err := os.ReadFile(filepath.Join(dir, source.file))
		if err != nil {
			return nil, fmt.Errorf("read the definition for %s: %w", name, err)
		}
		contents[name] = content
	}
	return contents, nil
}

// packageDir returns the directory of a Go package.
func packageDir(ctx context.Context, pkg string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", pkg) //nolint:gosec // The package is one of our own list.
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("find package %s: %w: %s", pkg, err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
