// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// Names of objects in the RBAC manifests.
const (
	// Namespace is the namespace of the Deployment, ServiceAccount and leader-election Lease of the hub.
	Namespace = "open-cluster-management-hub"
	// ServiceAccount is the account of the controller. It has the upstream name, so that swapping the image suffices.
	ServiceAccount = "placement-controller-sa"
	// ClusterProviderAccount is the account of each provider of clusters, in a namespace of its own.
	ClusterProviderAccount = "provider"
)

// The pattern has every directory, so that a new system needs no change.
//
//go:embed */*.yaml rbac/*/*.yaml admission/*/*.yaml
var files embed.FS

// kustomization is the file that lists the others for kustomize; it is not a Kubernetes object.
const kustomization = "kustomization.yaml"

// applyOrder ranks the kinds of the manifests: an object that others refer to or live in comes first.
var applyOrder = map[string]int{
	"CustomResourceDefinition":         0,
	"Namespace":                        1,
	"ServiceAccount":                   2,
	"ClusterRole":                      3,
	"ClusterRoleBinding":               4,
	"Role":                             5,
	"RoleBinding":                      6,
	"ConfigMap":                        7,
	"ValidatingAdmissionPolicy":        8,
	"ValidatingAdmissionPolicyBinding": 9,
	"PriorityLevelConfiguration":       10,
	"FlowSchema":                       11,
	"Service":                          12,
	"PodDisruptionBudget":              13,
	"Deployment":                       14,
	mutatingKind:                       15,
	validatingKind:                     16,
	"ClusterProvider":                  17,
}

// roots are the directories of the manifests that every hub needs; the others are optional.
var roots = []string{"crds", "rbac", "admission"}

const (
	multicluster     = "multicluster"
	manifestWorks    = "manifestworks"
	clusterProviders = "clusterprovider"
	history          = "history"
)

// Objects returns the manifests of a hub in the order of application: CustomResourceDefinitions, the Namespace, the ServiceAccount, RBAC,
// admission policies. Objects of a kind are sorted by name. Every call returns new copies.
//
// The empty status at the end of the upstream CustomResourceDefinition files is omitted, because it belongs to the API server.
func Objects() ([]*unstructured.Unstructured, error) { return objectsIn(roots...) }

// BesideUpstream returns the manifests of the controller "placement" alone, beside the registration controllers of Open Cluster Management, in the
// order of application: deploy/overlays/beside-upstream without its workload. They have the role of the endpoint of explanations, which is served
// where a system with a webhook is added.
func BesideUpstream() ([]*unstructured.Unstructured, error) {
	return objectsIn("rbac/placement", "rbac/explanations", "admission/readable")
}

// Multicluster returns the objects that --sig-placement-decisions needs beyond Objects, in the order of application.
func Multicluster() ([]*unstructured.Unstructured, error) { return objectsIn(multicluster) }

// ManifestWorks returns the definition of ManifestWorks, which the system Federation needs and Open Cluster Management brings.
func ManifestWorks() ([]*unstructured.Unstructured, error) { return objectsIn(manifestWorks) }

// ClusterProviders returns the ServiceAccounts, each in a namespace of its own, the rights and the ClusterProviders of the providers that are
// built in, in the order of application. They need the system ClusterRequest.
func ClusterProviders() ([]*unstructured.Unstructured, error) { return objectsIn(clusterProviders) }

// ClusterProviderNamespace returns the namespace of a provider that is built in, whose ServiceAccount is ClusterProviderAccount.
func ClusterProviderNamespace(provider string) string { return clusterProviders + "-" + provider }

// Policies returns the ValidatingAdmissionPolicies of a hub and of the optional parts, their bindings, and the ConfigMaps beside them, which are
// their parameters.
func Policies() ([]*unstructured.Unstructured, error) {
	names, err := filesIn(append([]string{"admission", multicluster}, Systems()...)...)
	if err != nil {
		return nil, err
	}
	objs, err := decodeFiles(slices.DeleteFunc(names, func(name string) bool {
		content, err := files.ReadFile(name)
		return err == nil && !bytes.Contains(content, []byte("kind: ValidatingAdmissionPolicy\n"))
	}))
	return slices.DeleteFunc(objs, func(obj *unstructured.Unstructured) bool {
		return !slices.Contains([]string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ConfigMap"}, obj.GetKind())
	}), err
}

// Definitions returns the CustomResourceDefinitions of a hub and of the optional systems.
func Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	objs, err := objectsIn(append([]string{"crds", manifestWorks}, Systems()...)...)
	if err != nil {
		return nil, err
	}
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for _, obj := range objs {
		if obj.GroupVersionKind().GroupKind() != definitionKind {
			continue
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, definition); err != nil {
			return nil, fmt.Errorf("%s: %w", describe(obj), err)
		}
		definitions = append(definitions, definition)
	}
	return definitions, nil
}

func objectsIn(directories ...string) ([]*unstructured.Unstructured, error) {
	names, err := filesIn(directories...)
	if err != nil {
		return nil, err
	}
	return decodeFiles(names)
}

// filesIn returns the names of the files in directories.
func filesIn(directories ...string) ([]string, error) {
	var names []string
	for _, directory := range directories {
		err := fs.WalkDir(files, directory, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && path.Base(name) != kustomization {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read the embedded manifests: %w", err)
		}
	}
	return names, nil
}

func decodeFiles(names []string) ([]*unstructured.Unstructured, error) {
	var objs []*unstructured.Unstructured
	for _, name := range names {
		decoded, err := decodeFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the embedded manifests: %w", err)
		}
		objs = append(objs, decoded...)
	}
	Sort(objs)
	return objs, nil
}

// Sort sorts objects of an installation in the order of application, and those of a kind by their names.
func Sort(objs []*unstructured.Unstructured) {
	slices.SortFunc(objs, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(
			cmp.Compare(applyOrder[a.GetKind()], applyOrder[b.GetKind()]),
			cmp.Compare(a.GetNamespace(), b.GetNamespace()),
			cmp.Compare(a.GetName(), b.GetName()),
		)
	})
}

func decodeFile(name string) ([]*unstructured.Unstructured, error) {
	content, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	decoded, err := Decode(bytes.NewReader(content), name)
	if err != nil {
		return nil, err
	}
	for _, obj := range decoded {
		if _, known := applyOrder[obj.GetKind()]; !known {
			return nil, fmt.Errorf("%s: kind %s has no place in the apply order", name, obj.GetKind())
		}
		unstructured.RemoveNestedField(obj.Object, "status")
	}
	return decoded, nil
}

// Install applies Objects to the API server behind cfg, and returns when each CustomResourceDefinition is established and its resource is
// served. It may be repeated. The API server enforces an admission policy a second or two later, and Install does not wait for that; until
// then the hub alone validates.
func Install(ctx context.Context, cfg *rest.Config) error {
	if err := install(ctx, cfg, Objects); err != nil {
		return fmt.Errorf("install the placement hub's manifests: %w", err)
	}
	return nil
}

// InstallMulticluster applies Multicluster to the API server behind cfg.
func InstallMulticluster(ctx context.Context, cfg *rest.Config) error {
	if err := install(ctx, cfg, Multicluster); err != nil {
		return fmt.Errorf("install the manifests of %s: %w", multicluster, err)
	}
	return nil
}

// InstallManifestWorks applies ManifestWorks to the API server behind cfg, where Open Cluster Management does not.
func InstallManifestWorks(ctx context.Context, cfg *rest.Config) error {
	if err := install(ctx, cfg, ManifestWorks); err != nil {
		return fmt.Errorf("install the definition of ManifestWorks: %w", err)
	}
	return nil
}

// InstallClusterProviders applies ClusterProviders to the API server behind cfg, where InstallSystem has installed ClusterRequest.
func InstallClusterProviders(ctx context.Context, cfg *rest.Config) error {
	if err := install(ctx, cfg, ClusterProviders); err != nil {
		return fmt.Errorf("install the rights of the providers of clusters: %w", err)
	}
	return nil
}

func install(ctx context.Context, cfg *rest.Config, which func() ([]*unstructured.Unstructured, error)) error {
	objs, err := which()
	if err != nil {
		return err
	}
	return Apply(ctx, cfg, objs)
}
