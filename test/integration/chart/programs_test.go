// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/env"
)

const (
	repository = "../../.."
	directory  = repository + "/deploy/charts/placement-hub"
	release    = "placement-hub"
)

// everything turns on all that the chart has, but for what needs the Prometheus operator.
func everything() []string {
	set := []string{
		"taintUnavailableClusters=true", "sigPlacementDecisions=true", "crds.manifestWorks=true", "networkPolicy.enabled=true",
		"flowSchema.enabled=true", "monitoring.scraper=true", "dashboard.enabled=true",
	}
	for _, system := range manifests.Systems() {
		set = append(set, "systems."+system+"=true")
	}
	return set
}

// run runs a program and returns what it prints, and whether it succeeded.
func run(t *testing.T, path string, environment []string, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), path, arguments...)
	command.Env = append(os.Environ(), environment...)
	var complaint strings.Builder
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		return complaint.String(), err
	}
	return string(output), nil
}

// helmVersion is a major version of Helm that the chart is for.
type helmVersion struct {
	name string
	find func() (string, error)
	// serverSide reports whether it applies on the server by default, and so has --force-conflicts.
	serverSide bool
}

var (
	helm4 = helmVersion{name: "Helm 4", find: env.FindHelm, serverSide: true}
	helm3 = helmVersion{name: "Helm 3", find: env.FindHelm3}
)

// forEachHelm runs a test with each major version of Helm.
func forEachHelm(t *testing.T, test func(*testing.T, helmVersion)) {
	t.Helper()
	for _, version := range []helmVersion{helm4, helm3} {
		t.Run(version.name, func(t *testing.T) { test(t, version) })
	}
}

// try runs Helm offline, with directories of its own.
func (v helmVersion) try(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	path, err := v.find()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	return run(t, path, []string{"HELM_CACHE_HOME=" + home, "HELM_CONFIG_HOME=" + home, "HELM_DATA_HOME=" + home}, arguments...)
}

func (v helmVersion) run(t *testing.T, arguments ...string) string {
	t.Helper()
	output, err := v.try(t, arguments...)
	if err != nil {
		t.Fatalf("%s: helm %s: %v\n%s", v.name, strings.Join(arguments, " "), err, output)
	}
	return output
}

// kubectl runs the kubectl of the control plane.
func kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	assets, err := binaries.Find()
	if err != nil {
		t.Fatal(err)
	}
	if assets.Kubectl == "" {
		t.Fatal("no kubectl beside the control plane: run `make assets`")
	}

	output, err := run(t, assets.Kubectl, nil, arguments...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return output
}

// render returns the chart as `helm template` of Helm 4 renders it, with values of --set: what it installs.
func render(t *testing.T, set ...string) string {
	t.Helper()
	return helm4.render(t, set...)
}

func (v helmVersion) render(t *testing.T, set ...string) string {
	t.Helper()
	return v.run(t, append([]string{"template", release, directory, "--namespace", manifests.Namespace, "--skip-tests"}, flags(set)...)...)
}

func flags(set []string) []string {
	var arguments []string
	for _, value := range set {
		arguments = append(arguments, "--set", value)
	}
	return arguments
}

// kustomize returns what kubectl makes of a kustomization with these directories of the repository.
func kustomize(t *testing.T, resources, components []string) []*unstructured.Unstructured {
	t.Helper()
	return decode(t, kubectl(t, "kustomize", kustomization(t, resources, components)))
}

// kustomization makes a kustomization of directories of the repository, and returns its directory.
func kustomization(t *testing.T, resources, components []string) string {
	t.Helper()
	place := t.TempDir()
	if err := (env.Kustomization{Resources: inRepository(resources), Components: inRepository(components)}).Write(place); err != nil {
		t.Fatal(err)
	}
	return place
}

func inRepository(directories []string) []string {
	var paths []string
	for _, name := range directories {
		paths = append(paths, filepath.Join(repository, name))
	}
	return paths
}

func decode(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Decode(strings.NewReader(text), "rendered")
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) == 0 {
		t.Fatal("nothing was rendered")
	}
	return objects
}

func describe(object *unstructured.Unstructured) string {
	return strings.Join([]string{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}, " ")
}
