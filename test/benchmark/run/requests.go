// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/controller"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
	"github.com/placement-hub/placement-hub/test/benchmark/requests"
	"github.com/placement-hub/placement-hub/test/env/loopback"
)

// requestsScenario has a control plane of its own, with ClusterRequests and the null provider. Its scenarios have this prefix.
const requestsScenario = "requests"

// The null provider: the directory of its manifests, and its ServiceAccount.
const (
	providerManifests = "manifests/clusterprovider"
	providerNamespace = "clusterprovider-null"
	providerAccount   = "provider"
)

// requestStage is a control plane with ClusterRequests, and what is measured on it.
type requestStage struct {
	*separateStage

	requests int // for each of the two purposes
	provider *process
	granted  *outcome // of the hub
}

// measureRequests runs the scenario requests. What was measured is returned with an error, too.
func measureRequests(
	ctx context.Context, o *options, tools programs, directory string, log io.Writer,
) (_ *report.Run, err error) {
	stage, err := newSeparateStage(ctx, requestsScenario, controller.Requests, tools, directory, log)
	if err != nil {
		return nil, err
	}
	r := &requestStage{separateStage: stage, requests: o.requests}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.furnish(ctx); err != nil {
		return nil, fmt.Errorf("creating objects: %w", err)
	}
	return r.run, r.perform(ctx, []step{
		{"grant", r.grant}, {"restart", r.restart}, {floorName, r.floor},
		{"world", r.world}, {"one", r.one}, {"ideal-one", r.idealOne},
	})
}

func (r *requestStage) close() error {
	if r.provider != nil {
		r.provider.kill()
	}
	return r.separateStage.close()
}

// furnish installs the system of ClusterRequests and the null provider, and creates the requests.
func (r *requestStage) furnish(ctx context.Context) error {
	if err := r.install(ctx); err != nil {
		return err
	}
	err := writeKubeconfig(ctx, r.environment, manifests.Namespace, manifests.ServiceAccount, r.kubeconfig)
	if err != nil {
		return err
	}
	if r.api, err = newWatchingClient(r.environment.AdminConfig()); err != nil {
		return err
	}
	if r.observer, err = observe(ctx, r.api, requestKind, grantKind, clusterKind); err != nil {
		return err
	}
	err = errors.Join(
		r.create(ctx, requests.Purpose(requests.HubPurpose)),
		r.create(ctx, requests.Purpose(requests.FloorPurpose)),
		each(ctx, requests.Namespaces, func(ctx context.Context, i int) error { return r.create(ctx, requests.Namespace(i)) }),
	)
	if err != nil {
		return err
	}
	if err := r.startProvider(ctx); err != nil {
		return fmt.Errorf("starting the provider: %w", err)
	}
	return r.createRequests(ctx, requests.HubPurpose)
}

// install installs the definitions, and the rights of the hub and of the provider.
func (r *requestStage) install(ctx context.Context) error {
	admin := r.environment.AdminConfig()
	// Nothing serves the webhook of the system: no AccessRequest is created.
	nowhere, err := loopback.FreeAddress(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(
		manifests.Install(ctx, admin), manifests.InstallSystem(ctx, admin, manifests.ClusterRequest, "https://"+nowhere),
	); err != nil {
		return err
	}
	objects, err := readManifests("provider.yaml", "access.yaml", "null.yaml")
	if err != nil {
		return err
	}
	return manifests.Apply(ctx, admin, objects)
}

// readManifests reads files of the manifests of providers, which the binary does not embed.
func readManifests(names ...string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, name := range names {
		path := filepath.Join(providerManifests, name)
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading the manifests of the provider: %w; run the benchmark in the root of the repository", err)
		}
		decoded, err := manifests.Decode(strings.NewReader(string(content)), path)
		if err != nil {
			return nil, err
		}
		objects = append(objects, decoded...)
	}
	return objects, nil
}

// startProvider starts the null provider, and waits until it is ready for new Clusters.
func (r *requestStage) startProvider(ctx context.Context) error {
	kubeconfig := filepath.Join(r.directory, "kubeconfig-"+requests.Provider)
	err := writeKubeconfig(ctx, r.environment, providerNamespace, providerAccount, kubeconfig)
	if err != nil {
		return err
	}
	if r.provider, err = startProcess(ctx, r.programs.hub, "provider", "null", "--kubeconfig="+kubeconfig); err != nil {
		return err
	}
	return poll(ctx, busyInterval, func() (bool, error) {
		provider, err := r.readProvider(ctx)
		return err == nil && provider.Status.Ready, errors.Join(err, r.provider.ended())
	})
}

func (r *requestStage) readProvider(ctx context.Context) (*openmcpv1alpha1.ClusterProvider, error) {
	provider := requests.ClusterProvider()
	if err := r.api.Get(ctx, client.ObjectKeyFromObject(provider), provider); err != nil {
		return nil, fmt.Errorf("reading ClusterProvider %s: %w", provider.Name, err)
	}
	return provider, nil
}

func (r *requestStage) create(ctx context.Context, object client.Object) error {
	if err := r.api.Create(ctx, object); err != nil {
		return fmt.Errorf("creating %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
	}
	return nil
}

// createRequests creates the requests for a purpose.
func (r *requestStage) createRequests(ctx context.Context, purpose string) error {
	begin := time.Now()
	err := each(ctx, r.requests, func(ctx context.Context, i int) error {
		return r.create(ctx, requests.Request(purpose, "many", i))
	})
	r.logf("%s: %d ClusterRequests for the purpose %s after %.1f s", requestsScenario, r.requests, purpose, time.Since(begin).Seconds())
	return err
}

// read returns all objects of the scenario.
func (r *requestStage) read(ctx context.Context) (*requests.World, error) {
	var (
		all      openmcpv1alpha1.ClusterRequestList
		grants   openmcpv1alpha1.ClusterRequestGrantList
		clusters openmcpv1alpha1.ClusterList
	)
	for _, list := range []client.ObjectList{&all, &grants, &clusters} {
		if err := r.api.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	return &requests.World{Requests: all.Items, Grants: grants.Items, Clusters: clusters.Items}, nil
}

// verify checks that every request is granted, and that Requests, Grants and Clusters agree.
func (r *requestStage) verify(ctx context.Context, scenario string) error {
	world, err := r.read(ctx)
	if err != nil {
		return err
	}
	findings := world.Findings()
	const shown = 5
	for _, finding := range findings[:min(shown, len(findings))] {
		r.failf("after %s: %s", scenario, finding)
	}
	if more := len(findings) - shown; more > 0 {
		r.failf("after %s: and %d more", scenario, more)
	}
	return nil
}
