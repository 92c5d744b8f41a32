// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/access"
	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// The reasons of the condition ClusterHealthy.
const (
	ReasonRunning     = "Running"
	ReasonStarting    = "Starting"
	ReasonNotReady    = "NotReady"
	ReasonStartFailed = "StartFailed"
)

// How often Ensure looks at an API server, and how long one look may take.
const (
	startingInterval = 500 * time.Millisecond
	runningInterval  = 5 * time.Second
	probeTimeout     = 2 * time.Second
)

// Options configure a Provider.
type Options struct {
	// Name is the name of the ClusterProvider.
	Name string
	// APIServer is the path of the kube-apiserver to run.
	APIServer string
	// Etcd has the client URLs of the etcd that keeps the objects of all clusters, below /clusters.
	Etcd []string
	// DataDir has a directory for each Cluster. Two providers must not share it.
	DataDir string
	// Clock has the time by which a failed start is repeated.
	Clock clock.PassiveClock
	// Log receives a line for each program that starts; nil means silent.
	Log io.Writer
}

// Provider runs an API server for each Cluster. Its methods are safe for concurrent use.
type Provider struct {
	options Options
	agents  agents

	mu      sync.Mutex // guards the fields below
	servers map[types.NamespacedName]*server
	closed  bool
}

var (
	_ provider.Provider = &Provider{}
	_ access.Targets    = &Provider{}
)

// New returns a Provider that runs nothing yet.
func New(options Options) *Provider {
	return &Provider{
		options: options, servers: map[types.NamespacedName]*server{}, agents: agents{running: map[types.NamespacedName]*agent{}},
	}
}

// Profiles returns the profiles of the ProviderConfigs that refer to this provider. Of two profiles of a name the one of the ProviderConfig
// with the first name counts.
func (p *Provider) Profiles(ctx context.Context, hub client.Reader) ([]openmcpv1alpha1.Profile, error) {
	configs := &loopbackv1alpha1.ProviderConfigList{}
	if err := hub.List(ctx, configs); err != nil {
		return nil, fmt.Errorf("listing ProviderConfigs: %w", err)
	}
	slices.SortFunc(configs.Items, func(a, b loopbackv1alpha1.ProviderConfig) int { return strings.Compare(a.Name, b.Name) })
	var profiles []openmcpv1alpha1.Profile

	for _, config := range configs.Items {
		if config.Spec.ProviderRef.Name != p.options.Name || config.DeletionTimestamp != nil {
			continue
		}
		for _, profile := range config.Spec.Profiles {
			taken := func(other openmcpv1alpha1.Profile) bool { return other.Name == profile.Name }
			if slices.ContainsFunc(profiles, taken) {
				continue
			}
			profiles = append(profiles, openmcpv1alpha1.Profile{
				Name: profile.Name, ProviderConfigRef: &openmcpv1alpha1.ObjectName{Name: config.Name},
				SupportedVersions: profile.Versions, SupportedTraits: profile.Traits,
			})
		}
	}

	return profiles, nil
}

// Ensure starts the API server of a Cluster if none runs, and returns its state.
func (p *Provider) Ensure(ctx context.Context, cluster *openmcpv1alpha1.Cluster) (provider.State, error) {
	s, err := p.server(client.ObjectKeyFromObject(cluster))
	if err != nil {
		return provider.State{}, err
	}
	plane, failed := s.ensure() //nolint:contextcheck // The API server runs until stop.
	switch {
	case failed:
		return provider.State{
			Failed: true, Reason: ReasonStartFailed, Again: runningInterval,
			Message: "kube-apiserver did not start; the log of the provider says why, and another start follows",
		}, nil
	case plane == nil:
		return provider.State{Reason: ReasonStarting, Message: "kube-apiserver is starting", Again: startingInterval}, nil
	}

	state := provider.State{
		Healthy: true, Reason: ReasonRunning, Message: "kube-apiserver is ready", Again: runningInterval,
		Endpoints: []openmcpv1alpha1.Endpoint{{Name: openmcpv1alpha1.EndpointExternal, URL: plane.AdminConfig().Host}},
	}

	probe, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := plane.Ready(probe); err != nil {
		state.Healthy, state.Reason, state.Message = false, ReasonNotReady, "kube-apiserver runs and does not answer that it is ready"
	}
	return state, nil
}

// TearDown stops the API server of a Cluster and deletes its objects, keys and files.
func (p *Provider) TearDown(ctx context.Context, cluster *openmcpv1alpha1.Cluster) error {
	key := client.ObjectKeyFromObject(cluster)
	if err := p.Forget(ctx, key); err != nil {
		return err
	}
	if _, err := localplane.DeleteKeys(ctx, p.options.Etcd, prefix(key)); err != nil {
		return fmt.Errorf("deleting the objects of Cluster %s: %w", key, err)
	}
	if err := localplane.RemoveDataDir(ctx, p.directory(key)); err != nil {
		return fmt.Errorf("remove the files of Cluster %s: %w", key, err)
	}

	if err := os.RemoveAll(p.agentDirectory(key)); err != nil {
		return fmt.Errorf("remove the files of the work agent of Cluster %s: %w", key, err)
	}
	return nil
}

// Forget stops the work agent and the API server of a Cluster.
func (p *Provider) Forget(_ context.Context, key types.NamespacedName) error {
	if err := p.agents.stop(key); err != nil {
		return err
	}
	p.mu.Lock()
	s := p.servers[key]
	delete(p.servers, key)
	p.mu.Unlock()
	if s == nil {
		return nil
	}

	if err := s.stop(); err != nil {
		return fmt.Errorf("stop the API server of Cluster %s: %w", key, err)
	}
	return nil
}

// Admin returns a configuration with all rights in a Cluster whose API server runs.
func (p *Provider) Admin(_ context.Context, cluster *openmcpv1alpha1.Cluster) (*rest.Config, error) {
	key := client.ObjectKeyFromObject(cluster)
	p.mu.Lock()
	s := p.servers[key]
	p.mu.Unlock()
	if s != nil {
		if plane := s.running(); plane != nil {
			return plane.AdminConfig(), nil
		}
	}
	return nil, fmt.Errorf("the API server of Cluster %s does not run", key)
}

// Close stops all work agents and API servers and keeps their data. Ensure returns an error from then on.
func (p *Provider) Close() error {
	p.mu.Lock()
	p.closed = true
	servers := slices.Collect(maps.Values(p.servers))
	p.mu.Unlock()
	errs := make([]error, len(servers), len(servers)+1)
	agentsErr := p.agents.close()
	var stopping sync.WaitGroup
	for i, s := range servers {
		stopping.Go(func() { errs[i] = s.stop() })
	}

	stopping.Wait()
	return errors.Join(append(errs, agentsErr)...)
}

// server returns the API server of a Cluster, which may not run yet.
func (p *Provider) server(key types.NamespacedName) (*server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("the provider is stopping")
	}
	s := p.servers[key]
	if s == nil {
		s = &server{key: key, directory: p.directory(key), options: p.options}
		p.servers[key] = s
	}
	return s, nil
}

// directory returns the directory of a Cluster. Names of objects have no slashes, and none of them is "..".
func (p *Provider) directory(key types.NamespacedName) string {
	return filepath.Join(p.options.DataDir, "clusters", key.Namespace, key.Name)
}

// agentDirectory returns the directory of the work agent of a Cluster.
func (p *Provider) agentDirectory(key types.NamespacedName) string {
	return filepath.Join(p.options.DataDir, "agents", key.Namespace, key.Name)
}

// prefix returns the etcd prefix of a Cluster.
func prefix(key types.NamespacedName) string { return "/clusters/" + key.Namespace + "/" + key.Name }
