// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// NewCache is cache.New with informers that survive undecodable objects of the hub's own kinds. Of these kinds it caches all objects, those
// of one namespace if options.DefaultNamespaces has one, or those that match the selectors of options.ByObject; other limits of them are an
// error. It passes the ListerWatcher of this package to options.NewInformer.
func NewCache(config *rest.Config, options cache.Options) (cache.Cache, error) {
	limits, err := limitsOf(options)
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
		return newInformer(through.replace(given, object, limits), object, resync, indexers)
	}
	return cache.New(config, options) //nolint:wrapcheck // The function replaces cache.New.
}

// limits are the objects of the hub's own kinds that a cache has.
type limits struct {
	// namespace is that of all objects; "" for any.
	namespace string
	// selectors are those of single kinds.
	selectors map[schema.GroupVersionKind]selectors
}

// selectors are those of the requests for a kind; empty for none.
type selectors struct{ label, field string }

// limitsOf returns the limits of a cache. It returns an error for those that this package does not know.
func limitsOf(options cache.Options) (limits, error) {
	if options.Scheme == nil {
		return limits{}, errors.New("a cache needs the scheme of the kinds that it reads")
	}
	of := limits{selectors: map[schema.GroupVersionKind]selectors{}}

	for object, by := range options.ByObject {
		kind, ours := covered(object, options.Scheme)
		if !ours {
			continue
		}
		if by.Namespaces != nil {
			return limits{}, fmt.Errorf("a cache of %T cannot be limited to namespaces", object)
		}
		of.selectors[kind] = selectorsOf(by)
	}

	if len(options.DefaultNamespaces) > 1 || options.DefaultLabelSelector != nil || options.DefaultFieldSelector != nil {
		return limits{}, errors.New("a cache can be limited to one namespace and by selectors of kinds, and in no other way")
	}
	for namespace, limited := range options.DefaultNamespaces {
		if limited.LabelSelector != nil || limited.FieldSelector != nil {
			return limits{}, fmt.Errorf("a cache of namespace %s cannot be limited further", namespace)
		}
		of.namespace = namespace
	}
	return of, nil
}

func selectorsOf(by cache.ByObject) selectors {
	var of selectors
	if by.Label != nil {
		of.label = by.Label.String()
	}
	if by.Field != nil {
		of.field = by.Field.String()
	}
	return of
}

// replace returns the ListerWatcher of this package for the kinds of the groups, and the given one for all others.
func (c *connection) replace(given toolscache.ListerWatcher, object runtime.Object, within limits) toolscache.ListerWatcher {
	kind, ours := covered(object, c.scheme)
	if !ours {
		return given
	}

	lenient, err := c.listerWatcher(kind, within)
	if err != nil {
		// The cache has just found the kind by the same mapper, so this is rare; the reflector logs the error.
		return &toolscache.ListWatch{
			ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, err },
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, err },
		}
	}
	return lenient
}
