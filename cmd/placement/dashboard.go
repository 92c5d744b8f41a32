// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/ownpages"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
	"github.com/placement-hub/placement-hub/pkg/dashboard/hubs"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

const dashboardLong = `dashboard serves pages on this machine that show where workloads go, and why: placements with the stages that each
cluster passes and the changes that would select it, clusters with all that concerns them, delivered objects, cluster
requests, and workloads with their policies. It prints a URL that opens them in one browser.

The pages show what the user of the kubeconfig may read, and answer as placement explain, diff, simulate, federated and
history do. The hub explains an object to a user who may not read all that decides about it, as placement explain says. It
alone knows the history, which it tells to users with a token. Nothing is written.

With -f the pages show a snapshot, which placement snapshot writes, at the time at which it was taken.

The pages follow changes. For that the user needs the verbs list and watch on what placements depend on (the ClusterRole
open-cluster-management:placement-hub:fleet-view); other users see changes after some seconds.

"placement controller --dashboard-listen" serves the same pages to everybody who logs in; docs/dashboard.md says how to
expose them.`

const dashboardExample = `  # The pages of the current context
  placement dashboard

  # On a fixed port, for another context
  placement dashboard --context staging --listen 127.0.0.1:8484

  # A hub as it was
  placement snapshot -A -o state.yaml
  placement dashboard -f state.yaml`

// dashboardOptions are the flags of the command.
type dashboardOptions struct {
	hubflags.Hub
	hubflags.Settings
	hubflags.Ask

	listen string
	// snapshot is the path of a snapshot that is shown in place of a hub.
	snapshot hubflags.Snapshot
}

func newDashboardCommand() *cobra.Command {
	o := dashboardOptions{listen: ownpages.DefaultListen}
	cmd := &cobra.Command{
		Use:     "dashboard",
		Short:   "Serve pages on this machine that show where workloads go, and why",
		Long:    dashboardLong,
		Example: dashboardExample,
		Args:    onlyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	o.Add(flags)
	o.AddSettings(flags)
	o.AddAsk(flags)
	flags.Lookup("namespace").Usage = "Namespace that is shown to a user who may not list placements of all. Default: the namespace of the context."
	flags.StringVar(&o.listen, "listen", o.listen, "Loopback address of the pages, such as 127.0.0.1:8484; port 0 selects a free port.")
	o.snapshot.Add(flags, "show")
	return cmd
}

// run serves the pages until ctx ends.
func (o *dashboardOptions) run(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	if err := o.ParseKinds(); err != nil {
		return err
	}
	if err := errors.Join(ownpages.CheckLoopback("listen", o.listen), o.CheckSettings()); err != nil {
		return exit.Mistake(err)
	}
	if o.snapshot != "" {
		return o.showSnapshot(ctx, stdin, stdout)
	}
	live, config, namespace, err := o.ConnectHub()
	if err != nil {
		return err
	}
	who, err := whoIs(ctx, live)
	if err != nil {
		return err
	}
	if o.HubControllers, err = o.Controllers(ctx, live); err != nil {
		return err
	}
	pages, err := ownpages.Listen(ctx, "listen", o.listen, who)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	hub := &hubs.Own{
		Broadcast: hubs.NewBroadcast(), Namespace: namespace,
		Explainer: &answers.Explainer{
			Hub:         tools.Hub{Settings: o.HubSettings(), Client: live, Now: time.Now},
			Definitions: hubflags.Definitions, Suggest: suggest.Name,
		},
		Ask: o.Asker(config),
	}
	watcher, err := watchHub(ctx, config)
	switch {
	case apierrors.IsForbidden(err):
		klog.FromContext(ctx).V(1).Info("The user may not watch what placements depend on, so the pages are made anew after some seconds", "err", err)
	case err != nil:
		return err
	default:
		hub.Explainer.Client = watcher.Client(live)
		group.Go(func() error { hub.Run(ctx, watcher.Changed()); return nil })
		group.Go(func() error {
			select {
			case err := <-watcher.Failed():
				return err
			case <-ctx.Done():
				return nil
			}
		})
	}
	if err := pages.Announce(stdout, config.Host); err != nil {
		return err
	}
	group.Go(func() error { return pages.Serve(ctx, hub, time.Now) })
	return group.Wait() //nolint:wrapcheck // What runs in the group names its errors.
}

// watchHub watches what placements depend on, until ctx ends.
func watchHub(ctx context.Context, config *rest.Config) (*hubstate.Watcher, error) {
	watcher, err := hubstate.NewWatcher(config, nil)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	if err := watcher.Watch(ctx, api.Adapters()); err != nil {
		stop()
		return nil, err
	}
	context.AfterFunc(ctx, stop)
	return watcher, nil
}

// whoIs returns the user of a client, as the API server knows it.
func whoIs(ctx context.Context, hub client.Client) (user.Info, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := hub.Create(ctx, review); err != nil {
		return nil, fmt.Errorf("asking the hub which user this is: %w; check the credentials of the kubeconfig", err)
	}
	return &user.DefaultInfo{Name: review.Status.UserInfo.Username, Groups: review.Status.UserInfo.Groups}, nil
}
