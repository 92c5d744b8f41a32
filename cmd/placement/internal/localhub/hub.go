// SPDX-License-Identifier: Apache-2.0

package localhub

import (
	"context"
	"net"

	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/embedded"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubprocess"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/preflight"
)

// runHub is an API server with the prerequisites of the controllers.
type runHub struct {
	config   *rest.Config // of the controllers
	person   *rest.Config // of the person who runs the command
	election election.Options
	access   []string // how a person reaches it

	embedded *embedded.Hub // nil for an existing cluster
	log      *live.Log     // beside an existing cluster; the embedded hub has its own
}

// startHub starts a control plane and sets it up. The returned hub must be closed even when there is an error, unless it is nil.
func (o *Options) startHub(ctx context.Context, progress *live.Progress) (*runHub, error) {
	options := embedded.Options{
		Sample: o.shown, DataDir: o.dataDir, Kubeconfig: o.KubeconfigFile, OwnsKubeconfig: o.ownsKubeconfigs,
		Once: o.once, Multicluster: o.profiles,
	}
	if o.samplesAsked {
		options.Samples = &o.samples
	}
	started, err := embedded.Start(ctx, options, progress)
	if started == nil {
		return nil, err
	}
	return &runHub{
		config: started.Config(), person: started.AdminConfig(), election: election.Options{Disable: true}, access: started.Access(),
		embedded: started,
	}, err
}

// connectHub prepares an existing cluster. The returned hub must be closed even when there is an error, unless it is nil.
func (o *Options) connectHub(ctx context.Context, progress *live.Progress) (*runHub, error) {
	settings := hubprocess.NewControllerOptions()
	settings.Kubeconfig = o.kubeconfig
	settings.Controllers = o.controllers(nil)
	if err := settings.Complete(func(string) bool { return false }, hubprocess.ProcessEnvironment()); err != nil {
		return nil, err
	}
	config, err := settings.RestConfig()
	if err != nil {
		return nil, err
	}
	hub := &runHub{config: config, person: config, election: settings.Election}
	if hub.log, err = live.OpenLog(""); err != nil {
		return hub, err
	}
	err = progress.Do("connecting to "+config.Host, func() error { return preflight.Reach(config, preflight.RequestTimeout) })
	if err == nil && !o.noInstall {
		err = embedded.InstallBeside(ctx, config, progress, o.profiles)
	}
	if err == nil && o.samples {
		err = embedded.ApplySamples(ctx, config, progress)
	}
	if err == nil {
		err = progress.Do("checking rights", func() error { return preflight.Run(ctx, config, settings.Controllers, settings.Election) })
	}
	return hub, err
}

// webhook returns the listener of the webhook; nil if API servers cannot reach this process.
func (h *runHub) webhook() net.Listener {
	if h.embedded == nil {
		return nil
	}
	return h.embedded.Webhook()
}

// ready completes the hub when the controllers serve.
func (h *runHub) ready(ctx context.Context, progress *live.Progress) error {
	if h.embedded == nil {
		return nil
	}
	return h.embedded.Ready(ctx, progress)
}

// close stops what was started, and restores the log.
func (h *runHub) close(progress *live.Progress) error {
	switch {
	case h.embedded != nil:
		return h.embedded.Close(progress)
	case h.log != nil:
		return h.log.Close()
	default:
		return nil
	}
}
