// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// Names of opt-in systems. Each has its objects in a directory of its name, and the controllers <system>/*.
const (
	PodScheduling  = "podscheduling"
	AffinityClass  = "affinityclass"
	Federation     = "federation"
	ClusterRequest = "clusterrequest"
)

// others are the directories of the manifests that belong to no opt-in system.
var others = append(slices.Clone(roots), webhook, multicluster, manifestWorks, clusterProviders, history)

// Systems returns the names of the opt-in systems, sorted: each directory of the manifests that is none of the others.
func Systems() []string {
	directories, err := fs.ReadDir(files, ".")
	if err != nil {
		panic(err) // The files are embedded.
	}
	var systems []string
	for _, directory := range directories {
		if !slices.Contains(others, directory.Name()) {
			systems = append(systems, directory.Name())
		}
	}
	return systems
}

// System returns the objects that an opt-in system needs beyond Objects, in the order of application. Its webhook configurations refer to
// the Service of the hub or to the URL base: see Webhook. It returns an error for an unknown system.
func System(name, base string) ([]*unstructured.Unstructured, error) {
	if systems := Systems(); !slices.Contains(systems, name) {
		return nil, fmt.Errorf("there is no system %q: use one of %s", name, strings.Join(systems, ", "))
	}
	objs, err := objectsIn(name)
	if err != nil {
		return nil, err
	}
	if err := callAt(base, objs); err != nil {
		return nil, err
	}
	return objs, nil
}

// InstallSystem applies System where Install was before, and keeps the certificate authorities that the hub has written.
func InstallSystem(ctx context.Context, cfg *rest.Config, name, base string) error {
	if err := install(ctx, cfg, func() ([]*unstructured.Unstructured, error) { return System(name, base) }); err != nil {
		return fmt.Errorf("install the system %s: %w", name, err)
	}
	return nil
}
