// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/workagent"
)

// The intervals of the agents are shorter than those of Open Cluster Management, so that a table follows what happens in the members.
const (
	memberResync     = 10 * time.Second
	memberStatusSync = time.Second
)

// member is an API server with a work agent.
type member struct {
	name  string
	plane *localplane.ControlPlane
	agent *workagent.Agent
}

// prepareFederation installs what placements and federated objects need, applies the clusters of the sample, and starts their API servers and
// agents. The objects follow when the hub serves its webhook: see Ready.
func (h *Hub) prepareFederation(ctx context.Context, progress *live.Progress) error {
	admin := h.environment.AdminConfig()
	if err := Install(ctx, admin, progress, h.options.Multicluster); err != nil {
		return err
	}
	if err := h.listen(ctx); err != nil {
		return err
	}
	if err := progress.Do("installing the system federation", func() error {
		if err := manifests.InstallManifestWorks(ctx, admin); err != nil {
			return err
		}
		return h.installSystems(ctx)
	}); err != nil {
		return err
	}
	if err := h.connect(); err != nil {
		return err
	}
	h.board = board{read: h.readDeliveries, concern: explain.OfDelivery}
	for _, kind := range federation.DefaultKinds() {
		h.board.others = append(h.board.others, kind.GroupVersionKind)
	}
	return progress.Do("starting the API servers and work agents of three members", func() error { return h.startMembers(ctx) })
}

// readDeliveries returns what the table of the sample shows.
func (h *Hub) readDeliveries(ctx context.Context) (*document.Board, error) {
	state, err := hubstate.FederatedFromCluster(ctx, h.client, "", nil)
	if err != nil {
		return nil, err
	}
	return state.ObjectsBoard(time.Now()), nil
}

// startMembers applies the clusters of the sample if they are wanted, and starts their members at a time.
func (h *Hub) startMembers(ctx context.Context) error {
	objects, err := sampleObjects(samples.Others(), samples.FederationClusters)
	if err != nil {
		return err
	}
	if h.wantsSamples() {
		if err := manifests.Apply(ctx, h.environment.AdminConfig(), objects); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if object.GetKind() == "ManagedCluster" {
			h.members = append(h.members, &member{name: object.GetName()})
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for _, m := range h.members {
		group.Go(func() error {
			if err := h.startMember(groupCtx, m); err != nil {
				return fmt.Errorf("starting the member %s: %w", m.name, err)
			}
			return nil
		})
	}
	return group.Wait() //nolint:wrapcheck // It names the member.
}

// startMember starts the API server and the agent of a member.
func (h *Hub) startMember(ctx context.Context, m *member) (err error) {
	var options localplane.Options
	if h.options.DataDir != "" {
		options.DataDir = filepath.Join(h.options.DataDir, "members", m.name)
	}
	if m.plane, err = h.environment.AnotherAPIServer(ctx, "/"+m.name, options); err != nil {
		return err
	}
	if err := workagent.GrantHub(ctx, h.environment.AdminConfig(), m.name); err != nil {
		return err
	}
	if err := workagent.PrepareMember(ctx, m.plane.AdminConfig()); err != nil {
		return err
	}
	content, err := localplane.Kubeconfig(m.plane.AdminConfig())
	if err != nil {
		return err
	}
	if err := os.WriteFile(m.kubeconfig(), content, 0o600); err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	user, groups := workagent.HubUser(m.name)
	agent := workagent.Options{
		Cluster: m.name, Dir: filepath.Join(m.plane.DataDir(), "agent"), Resync: memberResync, StatusSync: memberStatusSync,
	}
	if agent.Hub, err = h.environment.UserConfig(user, groups...); err != nil {
		return err
	}
	if agent.Member, err = m.plane.UserConfig(workagent.MemberUser); err != nil {
		return err
	}
	m.agent, err = workagent.Start(ctx, agent)
	return err
}

// kubeconfig is the path of a kubeconfig with all rights in the member.
func (m *member) kubeconfig() string { return filepath.Join(m.plane.DataDir(), "kubeconfig") }

// applyFederation applies the namespace and the objects of the sample, as a step.
func (h *Hub) applyFederation(ctx context.Context, progress *live.Progress) error {
	return progress.Do("applying six objects in a namespace that takes part", func() error {
		for _, file := range []string{samples.FederationNamespace, samples.FederationObjects} {
			objects, err := sampleObjects(samples.Others(), file)
			if err != nil {
				return err
			}
			if err := manifests.Apply(ctx, h.environment.AdminConfig(), objects); err != nil {
				return err
			}
		}
		return nil
	})
}

// waitMembers returns nil when ctx ends or the members are stopped, and an error as soon as a program of one has ended by itself.
func (h *Hub) waitMembers(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, m := range h.members {
		group.Go(func() error { return m.plane.Wait(ctx) })
		group.Go(func() error { return m.agent.Wait(ctx) })
	}
	return group.Wait() //nolint:wrapcheck // It names the program.
}

// stopMembers stops the agents; the API servers stop with the control plane of the hub.
func (h *Hub) stopMembers() error {
	var errs []error
	for _, m := range h.members {
		if m.agent != nil {
			errs = append(errs, m.agent.Stop())
		}
	}
	return errors.Join(errs...)
}
