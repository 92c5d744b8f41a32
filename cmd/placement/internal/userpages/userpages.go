// SPDX-License-Identifier: Apache-2.0

package userpages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

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

// Options are the flags of the command.
type Options struct {
	hubflags.Hub
	hubflags.Settings
	hubflags.Ask

	Listen string
	// Snapshot is the path of a snapshot that is shown in place of a hub.
	Snapshot hubflags.Snapshot
}

// Run serves the pages until ctx ends.
func (o *Options) Run(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	if err := o.ParseKinds(); err != nil {
		return err
	}
	if err := errors.Join(ownpages.CheckLoopback("listen", o.Listen), o.CheckSettings()); err != nil {
		return exit.Mistake(err)
	}
	if o.Snapshot != "" {
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
	pages, err := ownpages.Listen(ctx, "listen", o.Listen, who)
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
