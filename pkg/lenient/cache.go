package lenient

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// NewCache is cache.New with informers that survive undecodable objects of the hub's own kinds. Of these kinds it caches all objects, or
// those of one namespace if options.DefaultNamespaces has one; other limits of them are an error. It passes the ListerWatcher of this
// package to options.NewInformer.
func NewCache(config *rest.Config, options cache.Options) (cache.Cache, error) {
	namespace, err := limits(options)
	if err != nil {
		return nil, err
	}

	if options.HTTPClient == nil {
		if options.HTTPClient, err = rest.HTTPClientFor(config); err != nil {
			return nil, fmt.Errorf("making an HTTP client for %s: %w", config.Host, err)
		}
	}

	if options.Mapper == nil {
		if options.Mapper, err = apiutil.NewDynamicRESTMapper(config, options.HTTPClient); err != nil {
			return nil, fmt.Errorf("making a mapper of kinds for %s: %w", config.Host, err)
		}
	}

	newInformer := options.NewInformer
	if newInformer == nil {
		newInformer = toolscache.NewSharedIndexInformer
	}

	through := newConnection(config, options.HTTPClient, options.Mapper, options.Scheme)
	options.NewInformer = func(
		given toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		return newInformer(through.replace(given, object, namespace), object, resync, indexers)
	}

	return cache.New(config, options) //nolint:wrapcheck // The function replaces cache.New.
}

// limits returns the namespace that a cache is limited to; "" for all. It returns an error for other limits of the hub's own kinds.
func limits(options cache.Options) (namespace string, err error) {
	if options.Scheme == nil {
		return "", errors.New("a cache needs the scheme of the kinds that it reads")
	}

	for object, by := range options.ByObject {
		if _, ours := covered(object, options.Scheme); ours && (by.Namespaces != nil || by.Label != nil || by.Field != nil) {
			return "", fmt.Errorf("a cache of %T cannot be limited", object)
		}
	}

	if len(options.DefaultNamespaces) > 1 || options.DefaultLabelSelector != nil || options.DefaultFieldSelector != nil {
		return "", errors.New("a cache can be limited to one namespace, and in no other way")
	}

	for namespace, limited := range options.DefaultNamespaces {
		if limited.LabelSelector != nil || limited.FieldSelector != nil {
			return "", fmt.Errorf("a cache of namespace %s cannot be limited further", namespace)
		}

		return namespace, nil
	}

	return "", nil
}

// replace returns the ListerWatcher of this package for the kinds of the groups, and the given one for all others.
func (c *connection) replace(given toolscache.ListerWatcher, object runtime.Object, namespace string) toolscache.ListerWatcher {
	kind, ours := covered(object, c.scheme)
	if !ours {
		return given
	}

	lenient, err := c.listerWatcher(kind, namespace)
	if err != nil {
		// The cache has just found the kind by the same mapper, so this is rare; the reflector logs the error.
		return &toolscache.ListWatch{
			ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, err },
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, err },
		}
	}

	return lenient
}
