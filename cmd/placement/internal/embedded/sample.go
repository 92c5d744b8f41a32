// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

// The samples with steps of their own.
const (
	sampleFleet      = "fleet"
	samplePods       = "pods"
	sampleFederation = "federation"
	sampleClusters   = "clusters"
)

// steps set up the hub of a sample.
type steps struct {
	// prepare installs what the controllers need, before they start.
	prepare func(*Hub, context.Context, *live.Progress) error
	// apply applies the objects of the sample when the controllers serve their webhooks; nil for a sample whose prepare does.
	apply func(*Hub, context.Context, *live.Progress) error
}

// stepsOf returns the steps of a sample. Those of a sample without steps of its own install its systems, and apply all of its files.
func stepsOf(sample systems.Sample) steps {
	own, is := map[string]steps{
		sampleFleet:      {(*Hub).prepareFleet, nil},
		samplePods:       {(*Hub).preparePods, (*Hub).applyPods},
		sampleFederation: {(*Hub).prepareFederation, (*Hub).applyFederation},
		sampleClusters:   {(*Hub).prepareClusters, (*Hub).applyClusters},
	}[sample.Name]
	if is {
		return own
	}
	return steps{(*Hub).prepareSystems, (*Hub).applyFiles}
}

// systemsOf returns the systems whose controllers run in a sample.
func systemsOf(sample systems.Sample) []string {
	var names []string
	for _, pattern := range sample.Controllers {
		name, _, _ := strings.Cut(strings.TrimPrefix(pattern, "-"), "/")
		if slices.Contains(manifests.Systems(), name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// installSystems installs the systems of the sample, whose webhook configurations refer to the listener of this run.
func (h *Hub) installSystems(ctx context.Context) error {
	for _, system := range systemsOf(h.options.Sample) {
		if err := manifests.InstallSystem(ctx, h.environment.AdminConfig(), system, "https://"+h.webhook.Addr().String()); err != nil {
			return err
		}
	}
	return nil
}

// prepareSystems installs what placements and the systems of the sample need.
func (h *Hub) prepareSystems(ctx context.Context, progress *live.Progress) error {
	if err := Install(ctx, h.environment.AdminConfig(), progress, h.options.Multicluster); err != nil {
		return err
	}
	if err := h.listen(ctx); err != nil {
		return err
	}
	if err := h.connect(); err != nil {
		return err
	}
	shown := h.options.Sample.Shows
	h.board = board{read: func(ctx context.Context) (*document.Board, error) { return live.ReadObjects(ctx, h.client, shown) }, others: shown}
	return progress.Do("installing "+strings.Join(systemsOf(h.options.Sample), " and "), func() error { return h.installSystems(ctx) })
}

// applyFiles applies the files of the sample, as a step. It repeats that while the API server knows a webhook configuration and not its
// certificate yet.
func (h *Hub) applyFiles(ctx context.Context, progress *live.Progress) error {
	objects, err := sampleObjects(samples.Others(), h.options.Sample.Name+"/*.yaml")
	if err != nil {
		return err
	}
	return progress.Do(fmt.Sprintf("applying the sample (%d objects)", len(objects)), func() error {
		return awaitInForce(ctx, func(ctx context.Context) (pending, err error) {
			err = manifests.Apply(ctx, h.environment.AdminConfig(), objects)
			if apierrors.IsInternalError(err) {
				return err, nil
			}
			return nil, err
		})
	})
}
