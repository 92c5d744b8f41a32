package lenient

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

// connection makes requests for objects of the groups.
type connection struct {
	config *rest.Config
	http   *http.Client
	mapper meta.RESTMapper
	scheme *runtime.Scheme
	// serializer and parameters encode and decode.
	serializer runtime.NegotiatedSerializer
	parameters runtime.ParameterCodec
}

func newConnection(config *rest.Config, httpClient *http.Client, mapper meta.RESTMapper, scheme *runtime.Scheme) *connection {
	return &connection{
		config: config, http: httpClient, mapper: mapper, scheme: scheme,
		serializer: newSerializer(scheme), parameters: runtime.NewParameterCodec(scheme),
	}
}

// endpoint is where the objects of a kind are served.
type endpoint struct {
	rest.Interface

	resource   string
	namespaced bool
}

// endpointOf finds the endpoint of a kind. The error is a NoMatchError for a kind that is not served.
func (c *connection) endpointOf(kind schema.GroupVersionKind) (endpoint, error) {
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return endpoint{}, err //nolint:wrapcheck // Its kind decides what is done.
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

// list is a request for the objects of a namespace, or of all when it is empty.
func (e endpoint) list(namespace string, options *metav1.ListOptions, parameters runtime.ParameterCodec) *rest.Request {
	return e.Get().NamespaceIfScoped(namespace, e.namespaced && namespace != "").Resource(e.resource).VersionedParams(options, parameters)
}

// listerWatcher lists and watches the objects of a kind in a namespace, or in all when it is empty.
func (c *connection) listerWatcher(kind schema.GroupVersionKind, namespace string) (toolscache.ListerWatcher, error) {
	at, err := c.endpointOf(kind)
	if err != nil {
		return nil, err
	}

	list, err := c.scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return nil, fmt.Errorf("finding the list of %s: %w", kind.Kind, err)
	}

	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			found := list.DeepCopyObject()

			return found, at.list(namespace, &options, c.parameters).Do(ctx).Into(found)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.Watch, options.AllowWatchBookmarks = true, true

			return at.list(namespace, &options, c.parameters).Watch(ctx)
		},
	}, nil
}
