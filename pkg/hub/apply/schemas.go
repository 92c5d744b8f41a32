// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// The extensions of schemas that say for which kinds they are, and that they take any field.
const (
	extensionKinds    = "x-kubernetes-group-version-kind"
	extensionPreserve = "x-kubernetes-preserve-unknown-fields"
)

// schemaSource has the schemas of versions.
type schemaSource interface {
	of(ctx context.Context, version schema.GroupVersion) (*schemas, error)
}

// publishedSchemas are the schemas that the API server publishes, which everybody may read. It is safe for concurrent use.
type publishedSchemas struct {
	client openapi.ClientWithContext

	mu    sync.Mutex // guards the field below
	known map[schema.GroupVersion]*schemas
}

func newPublishedSchemas(mgr manager.Manager) (*publishedSchemas, error) {
	found, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to read schemas: %w", err)
	}
	return &publishedSchemas{client: openapi.NewClientWithContext(found.RESTClient()), known: map[schema.GroupVersion]*schemas{}}, nil
}

// of returns the schemas of a version as they are now. Their URL has a hash of them, so that those that have not changed are not read again.
func (p *publishedSchemas) of(ctx context.Context, version schema.GroupVersion) (*schemas, error) {
	paths, err := p.client.PathsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the schemas of the API server: %w", err)
	}
	published, found := paths["apis/"+version.String()]
	if !found {
		return nil, fmt.Errorf("the API server publishes no schema of %s", version)
	}

	p.mu.Lock()
	known := p.known[version]
	p.mu.Unlock()
	if known != nil && known.url == published.ServerRelativeURL() {
		return known, nil
	}
	content, err := published.SchemaWithContext(ctx, runtime.ContentTypeJSON)
	if err != nil {
		return nil, fmt.Errorf("read the schema of %s: %w", version, err)
	}
	current, err := newSchemas(published.ServerRelativeURL(), content)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", version, err)
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[version] = current
	return current, nil
}

// schemas are those of the kinds of one version.
type schemas struct {
	url   string
	named map[string]*spec.Schema
	types managedfields.TypeConverter
}

// newSchemas decodes an OpenAPI document.
func newSchemas(url string, content []byte) (*schemas, error) {
	document := &spec3.OpenAPI{}
	if err := json.Unmarshal(content, document); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if document.Components == nil {
		return nil, errors.New("decode: it has no components")
	}
	converter, err := managedfields.NewTypeConverter(document.Components.Schemas, false)
	if err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	return &schemas{url: url, named: document.Components.Schemas, types: converter}, nil
}

// drop removes the fields from an object that the schema of its kind lacks, outside of its metadata, and returns their sorted paths.
func (s *schemas) drop(object *unstructured.Unstructured) []string {
	of := s.schemaOf(object.GroupVersionKind())
	if of == nil {
		return nil
	}
	var lacking []string
	for field, value := range object.Object {
		if declared, is := of.Properties[field]; is && field != "metadata" {
			lacking = append(lacking, drop(value, &declared, field)...)
		}
	}
	slices.Sort(lacking)
	return slices.Compact(lacking)
}

// schemaOf returns the schema of a kind; nil if there is none.
func (s *schemas) schemaOf(kind schema.GroupVersionKind) *spec.Schema {
	for _, of := range s.named {
		var kinds []namedKind
		if err := of.Extensions.GetObject(extensionKinds, &kinds); err != nil {
			continue // It is the schema of no kind.
		}
		if slices.Contains(kinds, namedKind(kind)) {
			return of
		}
	}
	return nil
}

// namedKind is a GroupVersionKind as extensions have it.
type namedKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// drop removes what a schema lacks from a value at a path, and returns the paths of what it has removed, without the indices of lists.
func drop(value any, of *spec.Schema, path string) (lacking []string) {
	switch value := value.(type) {
	case []any:
		if of.Items == nil || of.Items.Schema == nil {
			return nil
		}
		for _, item := range value {
			lacking = append(lacking, drop(item, of.Items.Schema, path+"[]")...)
		}
	case map[string]any:
		preserve, _ := of.Extensions.GetBool(extensionPreserve)
		for key, inner := range value {
			declared, is := of.Properties[key]
			switch {
			case is:
				lacking = append(lacking, drop(inner, &declared, path+"."+key)...)
			case of.AdditionalProperties != nil && of.AdditionalProperties.Schema != nil:
				lacking = append(lacking, drop(inner, of.AdditionalProperties.Schema, path+"."+key)...)
			case len(of.Properties) > 0 && of.AdditionalProperties == nil && !preserve:
				delete(value, key)
				lacking = append(lacking, strings.TrimPrefix(path+"."+key, "."))
			}
		}
	}
	return lacking
}
