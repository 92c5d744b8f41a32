// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
)

// connection sends requests for objects of the groups.
type connection struct {
	config *rest.Config
	http   *http.Client
	mapper meta.RESTMapper
	scheme *runtime.Scheme
	// serializer decodes objects, and parameters encodes query parameters.
	serializer runtime.NegotiatedSerializer
	parameters runtime.ParameterCodec
}

func newConnection(config *rest.Config, httpClient *http.Client, mapper meta.RESTMapper, scheme *runtime.Scheme) *connection {
	return &connection{
		config: config, http: httpClient, mapper: mapper, scheme: scheme,
		serializer: newSerializer(scheme), parameters: runtime.NewParameterCodec(scheme),
	}
}

// endpoint is the REST endpoint of a kind.
type endpoint struct {
	rest.Interface

	resource   string
	namespaced bool
}

// endpointOf returns the endpoint of a kind. It returns a NoMatchError for a kind that is not served.
func (c *connection) endpointOf(kind schema.GroupVersionKind) (endpoint, error) {
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return endpoint{}, err //nolint:wrapcheck // Callers check for a NoMatchError.
	}
	version := kind.GroupVersion()
	config := rest.CopyConfig(c.config)
	config.GroupVersion, config.APIPath, config.NegotiatedSerializer = &version, "/apis", c.serializer
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}

	client, err := rest.RESTClientForConfigAndClient(config, c.http)
	if err != nil {
		return endpoint{}, fmt.Errorf("preparing requests for %s: %w", mapping.Resource, err)
	}
	return endpoint{
		Interface: client, resource: mapping.Resource.Resource, namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace,
	}, nil
}

// list returns a request for the objects of a namespace, or of all for "".
func (e endpoint) list(namespace string, options *metav1.ListOptions, parameters runtime.ParameterCodec) *rest.Request {
	return e.Get().NamespaceIfScoped(namespace, e.namespaced && namespace != "").Resource(e.resource).VersionedParams(options, parameters)
}

// listerWatcher returns a ListerWatcher for the objects of a kind within limits.
func (c *connection) listerWatcher(kind schema.GroupVersionKind, within limits) (toolscache.ListerWatcher, error) {
	at, err := c.endpointOf(kind)
	if err != nil {
		return nil, err
	}
	list, err := c.scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return nil, fmt.Errorf("finding the list of %s: %w", kind.Kind, err)
	}

	request := func(options metav1.ListOptions) *rest.Request {
		options.LabelSelector, options.FieldSelector = within.selectors[kind].label, within.selectors[kind].field
		return at.list(within.namespace, &options, c.parameters)
	}
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			found := list.DeepCopyObject()
			return found, request(options).Do(ctx).Into(found)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.Watch, options.AllowWatchBookmarks = true, true
			return request(options).Watch(ctx)
		},
	}, nil
}
