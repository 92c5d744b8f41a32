// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/provider"
	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/access"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// The providers of the sample clusters, which are ClusterProviders of these names.
const (
	loopbackProvider = "loopback"
	nullProvider     = "null"
)

// The version of Kubernetes and the trait of the clusters that the null provider pretends to have.
const (
	nullVersion = "1.35.4"
	nullTrait   = "cluster.openmcp.cloud/workerless"
)

// clusterProviders are the providers of the sample clusters, each with the rights of its ServiceAccount.
type clusterProviders struct {
	loopbackHub, nullHub *rest.Config
	loopback             provider.LoopbackOptions
	null                 provider.NullOptions
}

// prepareClusters installs what placements, federated objects, ClusterRequests and the providers need, and applies the platform of the
// sample. The requests follow when the hub serves its webhook: see Ready.
func (h *Hub) prepareClusters(ctx context.Context, progress *live.Progress) error {
	admin := h.environment.AdminConfig()
	if err := Install(ctx, admin, progress, h.options.Multicluster); err != nil {
		return err
	}
	if err := h.listen(ctx); err != nil {
		return err
	}
	if err := h.connect(); err != nil {
		return err
	}
	h.board = board{
		read: h.readRequests, concern: explain.OfRequests | explain.OfPlacements,
		others: []schema.GroupVersionKind{openmcpv1alpha1.GroupVersion.WithKind("AccessRequest")},
	}
	err := progress.Do("installing the systems clusterrequest and federation, and two providers of clusters", func() error {
		return h.installClusterSystems(ctx, admin)
	})
	if err != nil {
		return err
	}
	if h.providers, err = h.newProviders(progress); err != nil {
		return err
	}
	if !h.wantsSamples() {
		return nil
	}
	return progress.Do("applying the purposes and profiles of a platform", func() error {
		objects, err := sampleObjects(samples.Others(), samples.ClustersPlatform)
		if err != nil {
			return err
		}
		return manifests.Apply(ctx, admin, objects)
	})
}

func (h *Hub) installClusterSystems(ctx context.Context, admin *rest.Config) error {
	if err := manifests.InstallManifestWorks(ctx, admin); err != nil {
		return err
	}
	if err := h.installSystems(ctx); err != nil {
		return err
	}
	return manifests.InstallClusterProviders(ctx, admin)
}

// readRequests returns what the table of the sample shows.
func (h *Hub) readRequests(ctx context.Context) (*document.Board, error) {
	objects, err := hubstate.RequestsFromCluster(ctx, h.client)
	if err != nil {
		return nil, err
	}
	state, err := hubstate.AllFromCluster(ctx, h.client, "")
	if err != nil {
		return nil, err
	}
	access := &openmcpv1alpha1.AccessRequestList{}
	if err := h.client.List(ctx, access); err != nil {
		return nil, fmt.Errorf("listing AccessRequests: %w", err)
	}
	return state.RequestsBoard(objects, access.Items), nil
}

// newProviders returns the providers, which do not run yet. Without the binary of the work agent it says that nothing is delivered, unless the
// hub ends after one result.
func (h *Hub) newProviders(progress *live.Progress) (*clusterProviders, error) {
	options := func(name string) provider.Options {
		return provider.Options{Name: name, Environment: "run", TokenLifetime: access.DefaultTokenLifetime}
	}
	p := &clusterProviders{
		null: provider.NullOptions{Options: options(nullProvider), Versions: []string{nullVersion}, Traits: []string{nullTrait}},
		loopback: provider.LoopbackOptions{
			Options: options(loopbackProvider), APIServer: h.assets.APIServer, Etcd: strings.Split(h.environment.EtcdURL(), ","),
			DataDir: filepath.Join(h.environment.DataDir(), loopbackProvider), Namespace: manifests.ClusterProviderNamespace(loopbackProvider),
		},
	}
	agent, err := binaries.FindOCM(binaries.WorkAgent)
	switch {
	case h.options.Once: // The result has no delivered objects.
	case err == nil:
		p.loopback.WorkAgent = agent.Path
	case errors.Is(err, binaries.ErrNoOCM):
		if err := progress.Printf("objects are not delivered to clusters, because there is no work agent: %v", err); err != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	if p.loopbackHub, err = h.accountConfig(manifests.ClusterProviderNamespace(loopbackProvider), manifests.ClusterProviderAccount); err != nil {
		return nil, err
	}
	p.nullHub, err = h.accountConfig(manifests.ClusterProviderNamespace(nullProvider), manifests.ClusterProviderAccount)
	return p, err
}

// run runs the providers until ctx ends or one of them fails, and stops the API servers of the clusters.
func (p *clusterProviders) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return provider.Loopback(ctx, p.loopbackHub, p.loopback) })
	group.Go(func() error { return provider.Null(ctx, p.nullHub, p.null) })
	return group.Wait() //nolint:wrapcheck // What runs in the group names its errors.
}

// applyClusters applies the requests of the sample and what uses the clusters, as steps.
func (h *Hub) applyClusters(ctx context.Context, progress *live.Progress) error {
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"waiting for the profiles of two providers", h.awaitProfiles},
		{"applying four requests, one after the other", h.applyRequests},
		{"applying a Placement and a request for access", h.applyUse},
	} {
		if err := progress.Do(step.name, func() error { return step.run(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// awaitProfiles waits until the providers have published their profiles: without them the requests would be denied at first.
func (h *Hub) awaitProfiles(ctx context.Context) error {
	for _, name := range []string{loopbackProvider, nullProvider} {
		found := &openmcpv1alpha1.ClusterProvider{}
		err := awaitInForce(ctx, func(ctx context.Context) (pending, err error) {
			if err := h.client.Get(ctx, client.ObjectKey{Name: name}, found); err != nil {
				return nil, fmt.Errorf("reading the ClusterProvider %s: %w", name, err)
			}
			if !found.Status.Ready || len(found.Status.Profiles) == 0 {
				return fmt.Errorf("the provider %s has not published its profiles", name), nil
			}
			return nil, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// applyRequests applies each request when the one before it is decided, so that the first one of a purpose always gets the new Cluster.
func (h *Hub) applyRequests(ctx context.Context) error {
	objects, err := sampleObjects(samples.Others(), samples.ClustersRequests)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := manifests.Apply(ctx, h.environment.AdminConfig(), []*unstructured.Unstructured{object}); err != nil {
			return err
		}
		request, key := &openmcpv1alpha1.ClusterRequest{}, client.ObjectKeyFromObject(object)
		err := awaitInForce(ctx, func(ctx context.Context) (pending, err error) {
			if err := h.client.Get(ctx, key, request); err != nil {
				return nil, fmt.Errorf("reading the ClusterRequest %s: %w", key, err)
			}
			if request.Status.Status == "" {
				return fmt.Errorf("the ClusterRequest %s is not decided", key), nil
			}
			return nil, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// applyUse applies what uses the clusters. It repeats that while the API server knows a webhook configuration and not its certificate yet.
func (h *Hub) applyUse(ctx context.Context) error {
	objects, err := sampleObjects(samples.Others(), samples.ClustersUse)
	if err != nil {
		return err
	}
	return awaitInForce(ctx, func(ctx context.Context) (pending, err error) {
		err = manifests.Apply(ctx, h.environment.AdminConfig(), objects)
		if apierrors.IsInternalError(err) {
			return err, nil
		}
		return nil, err
	})
}
