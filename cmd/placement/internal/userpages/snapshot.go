// SPDX-License-Identifier: Apache-2.0

package userpages

import (
	"context"
	"io"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/ownpages"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
	"github.com/placement-hub/placement-hub/pkg/dashboard/hubs"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

// showSnapshot serves the pages of a snapshot until ctx ends.
func (o *Options) showSnapshot(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	taken, reader, err := o.Snapshot.Open(&o.Hub, stdin)
	if err != nil {
		return err
	}
	pages, err := ownpages.Listen(ctx, "listen", o.Listen, &user.DefaultInfo{Name: "snapshot"})
	if err != nil {
		return err
	}
	o.HubControllers = taken.Header.Controllers
	now := func() time.Time { return taken.Header.Time.Time }
	hub := &hubs.Own{
		Broadcast: hubs.NewBroadcast(), Namespace: taken.Header.Namespace,
		Explainer: &answers.Explainer{
			Hub: tools.Hub{Settings: o.HubSettings(), Client: reader, Now: now}, Definitions: hubflags.Definitions, Suggest: suggest.Name,
		},
	}
	if err := pages.Announce(stdout, "the snapshot of "+now().UTC().Format(time.RFC3339)); err != nil {
		return err
	}
	return pages.Serve(ctx, hub, now)
}
