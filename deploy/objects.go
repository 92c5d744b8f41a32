// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/manifests"
)

//go:embed base/controller/*.yaml base/flowcontrol/*.yaml
var files embed.FS

// The directories of the workload and of priority and fairness, and the name of the file there that has no objects.
const (
	workload    = "base/controller"
	flowControl = "base/flowcontrol"
	kustomize   = "kustomization.yaml"
)

// Choices are what an installation may have. The zero value is that of base.
type Choices struct {
	// Systems are opt-in systems, as the components of their names add them.
	Systems []string
	// BesideUpstream is the overlay beside-upstream instead of base.
	BesideUpstream bool
	// WithoutTaints is the component without-taints.
	WithoutTaints bool
	// WithoutFlowSchemas is the component without-flowschemas.
	WithoutFlowSchemas bool
	// ManifestWorks adds manifests/manifestworks.
	ManifestWorks bool
	// Image is the image of the hub; empty means that of base.
	Image string
	// WebhookURL is where the API server reaches the webhooks; empty means their Service.
	WebhookURL string
	// ExplainAddress is where users reach the explanations; empty means the Service of the webhooks.
	ExplainAddress string
}

// Objects returns the objects of an installation, in the order of application. Those that a kustomization of the same choices has are equal. It
// returns an error for an unknown system.
func Objects(chosen Choices) ([]*unstructured.Unstructured, error) {
	objects, err := hubObjects(chosen)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		if err := chosen.setContainer(object); err != nil {
			return nil, fmt.Errorf("setting the container of Deployment %s: %w", object.GetName(), err)
		}
	}
	for _, system := range chosen.Systems {
		more, err := manifests.System(system, chosen.WebhookURL)
		if err != nil {
			return nil, fmt.Errorf("reading the manifests of a system: %w", err)
		}
		objects = append(objects, more...)
	}
	if chosen.ManifestWorks {
		more, err := manifests.ManifestWorks()
		if err != nil {
			return nil, fmt.Errorf("reading the definition of ManifestWorks: %w", err)
		}
		objects = append(objects, more...)
	}
	manifests.Sort(objects)
	return objects, nil
}

// Removal returns what of an installation is deleted when systems are turned off or, without systems, when the hub is: everything but the
// definitions, with which the objects of users would go, and the namespaces. Webhooks are first, so that none outlives what serves it.
func Removal(chosen Choices) ([]*unstructured.Unstructured, error) {
	objects, err := Objects(chosen)
	if err != nil {
		return nil, err
	}
	stays := map[string]bool{}
	if len(chosen.Systems) > 0 {
		chosen.Systems = nil
		hub, err := Objects(chosen)
		if err != nil {
			return nil, err
		}
		for _, object := range hub {
			stays[identity(object)] = true
		}
	}
	objects = slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GetKind() == "CustomResourceDefinition" || object.GetKind() == "Namespace" || stays[identity(object)]
	})
	slices.Reverse(objects)
	return objects, nil
}

// identity returns what no two objects of an installation have in common.
func identity(object *unstructured.Unstructured) string {
	return object.GetAPIVersion() + " " + object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

// hubObjects returns the objects of base or of the overlay beside-upstream.
func hubObjects(chosen Choices) ([]*unstructured.Unstructured, error) {
	sources := []func() ([]*unstructured.Unstructured, error){manifests.BesideUpstream}
	if !chosen.BesideUpstream {
		sources = []func() ([]*unstructured.Unstructured, error){
			manifests.Objects, func() ([]*unstructured.Unstructured, error) { return manifests.Webhook(chosen.WebhookURL) },
		}
	}
	directories := []string{workload, flowControl}
	if chosen.WithoutFlowSchemas {
		directories = directories[:1]
	}
	var objects []*unstructured.Unstructured
	for _, directory := range directories {
		more, err := objectsIn(directory)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	for _, source := range sources {
		more, err := source()
		if err != nil {
			return nil, fmt.Errorf("reading the manifests of a hub: %w", err)
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// objectsIn returns the objects of a directory of files.
func objectsIn(directory string) ([]*unstructured.Unstructured, error) {
	entries, err := files.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("reading the embedded files: %w", err)
	}
	var objects []*unstructured.Unstructured
	for _, entry := range entries {
		if entry.Name() == kustomize {
			continue
		}
		name := path.Join(directory, entry.Name())
		content, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the embedded files: %w", err)
		}
		decoded, err := manifests.Decode(bytes.NewReader(content), name)
		if err != nil {
			return nil, fmt.Errorf("reading the embedded files: %w", err)
		}
		objects = append(objects, decoded...)
	}
	return objects, nil
}

// arguments returns the arguments of base with the patches of the overlay and of the components.
func (c Choices) arguments(base []string) []string {
	changed := slices.Clone(base)
	if c.BesideUpstream {
		changed = []string{"controller", "--controllers=placement"}
	}
	for _, system := range c.Systems {
		changed = append(changed, "--controllers="+system+"/*")
	}
	if c.WithoutTaints {
		changed = append(changed, "--controllers=-managedcluster-taints")
	}
	if c.ExplainAddress != "" {
		changed = append(changed, "--explain-address="+c.ExplainAddress)
	}
	return changed
}

// setContainer changes the arguments and the image of the container of a Deployment.
func (c Choices) setContainer(deployment *unstructured.Unstructured) error {
	location := []string{"spec", "template", "spec", "containers"}
	containers, _, err := unstructured.NestedSlice(deployment.Object, location...)
	if err != nil {
		return fmt.Errorf("reading its containers: %w", err)
	}
	if len(containers) != 1 {
		return fmt.Errorf("it has %d containers, want one", len(containers))
	}
	container, isObject := containers[0].(map[string]any)
	if !isObject {
		return fmt.Errorf("its container is a %T", containers[0])
	}
	present, _, err := unstructured.NestedStringSlice(container, "args")
	if err != nil {
		return fmt.Errorf("reading its arguments: %w", err)
	}
	if err := unstructured.SetNestedStringSlice(container, c.arguments(present), "args"); err != nil {
		return fmt.Errorf("setting its arguments: %w", err)
	}
	if c.Image != "" {
		container["image"] = c.Image
	}
	if err := unstructured.SetNestedSlice(deployment.Object, containers, location...); err != nil {
		return fmt.Errorf("setting its container: %w", err)
	}
	return nil
}

// Print writes objects as a stream of YAML documents.
func Print(w io.Writer, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("printing %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		if _, err := w.Write(append([]byte("---\n"), text...)); err != nil {
			return fmt.Errorf("printing %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}
