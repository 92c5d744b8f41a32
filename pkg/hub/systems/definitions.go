// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// definitions follows the metadata of all CustomResourceDefinitions. It is safe for concurrent use.
type definitions struct {
	cached    cache.Cache
	discovery discovery.DiscoveryInterfaceWithContext

	mu        sync.Mutex
	listeners []chan struct{}
}

// addDefinitions adds the cache of definitions to the manager.
func addDefinitions(mgr manager.Manager) (*definitions, error) {
	served, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing discovery: %w", err)
	}
	informers, err := objects.MetadataCache(mgr, "definitions", nil, cache.Options{})
	if err != nil {
		return nil, err
	}

	d := &definitions{cached: informers, discovery: served}
	if err := mgr.Add(d); err != nil {
		return nil, fmt.Errorf("adding the watch of CustomResourceDefinitions: %w", err)
	}
	return d, nil
}

var _ manager.LeaderElectionRunnable = (*definitions)(nil)

// NeedLeaderElection returns false.
func (*definitions) NeedLeaderElection() bool { return false }

// Start has changes of definitions notify the systems until ctx ends.
func (d *definitions) Start(ctx context.Context) error {
	informer, err := d.cached.GetInformer(ctx, emptyDefinition(), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching CustomResourceDefinitions: %w", err)
	}
	notify := func(any) { d.notify() }
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: notify, DeleteFunc: notify, UpdateFunc: func(_, _ any) { d.notify() },
	}); err != nil {
		return fmt.Errorf("handling the events of CustomResourceDefinitions: %w", err)
	}

	<-ctx.Done()
	return nil
}

func emptyDefinition() *metav1.PartialObjectMetadata {
	return objects.Metadata(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
}

// listen returns a channel that gets a value after definitions have changed.
func (d *definitions) listen() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	listener := make(chan struct{}, 1)
	d.listeners = append(d.listeners, listener)
	return listener
}

func (d *definitions) notify() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, listener := range d.listeners {
		select {
		case listener <- struct{}{}:
		default: // The listener has yet to look.
		}
	}
}

// view is what the API server has of the needs of a system.
type view struct {
	// identity changes when a definition is replaced by another one.
	identity string
	// missing says what is not served; empty if nothing is missing. soon says that a definition exists that is about to be served.
	missing string
	soon    bool
}

// served returns the resources of the versions of some needs, none for a version that is not served.
func (d *definitions) served(ctx context.Context, needs []Need) (map[schema.GroupVersion][]metav1.APIResource, error) {
	served := map[schema.GroupVersion][]metav1.APIResource{}
	for _, need := range needs {
		if _, asked := served[need.GroupVersion]; asked {
			continue
		}
		list, err := d.discovery.ServerResourcesForGroupVersionWithContext(ctx, need.GroupVersion.String())
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("asking the API server for its resources of %s: %w", need.GroupVersion, err)
		}

		served[need.GroupVersion] = nil
		if err == nil {
			served[need.GroupVersion] = list.APIResources
		}
	}

	return served, nil
}

// look returns what the API server has of some needs. It returns an error if discovery fails.
func (d *definitions) look(ctx context.Context, needs []Need) (view, error) {
	var (
		seen       view
		identities []string
		missing    []string
	)
	served, err := d.served(ctx, needs)
	if err != nil {
		return view{}, err
	}

	for _, need := range needs {
		resource := need.Resource
		at := slices.IndexFunc(served[need.GroupVersion], func(r metav1.APIResource) bool {
			return r.Name == need.Resource || need.Resource == "" && r.Kind == need.Kind && !strings.Contains(r.Name, "/")
		})
		if at >= 0 {
			resource = served[need.GroupVersion][at].Name
		}
		definition := emptyDefinition()

		err := d.cached.Get(ctx, types.NamespacedName{Name: resource + "." + need.Group}, definition)
		if client.IgnoreNotFound(err) != nil {
			return view{}, fmt.Errorf("reading %s: %w", need, err)
		}

		switch exists := err == nil; {
		case exists && definition.DeletionTimestamp != nil:
			missing = append(missing, need.String()+" is being deleted")
		case at < 0:
			missing = append(missing, fmt.Sprintf("%s is not served in version %s", need, need.Version))
			seen.soon = seen.soon || exists
		case exists:
			identities = append(identities, string(definition.UID))
		default: // Another API server serves the kind.
			identities = append(identities, "")
		}
	}

	seen.identity, seen.missing = strings.Join(identities, " "), strings.Join(missing, "; ")
	return seen, nil
}
