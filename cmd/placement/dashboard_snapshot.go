// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/dashboard/hubs"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/snapshot"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

// showSnapshot serves the pages of a snapshot until ctx ends.
func (o *dashboardOptions) showSnapshot(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	if o.connects() != "" {
		return &usageError{fmt.Errorf("--filename: the pages show a snapshot, so %s means nothing; leave out one or the other", o.connects())}
	}
	taken, err := o.readSnapshot(stdin)
	if err != nil {
		return err
	}
	reader, err := hubstate.NewSnapshotClient(taken, scheme.New())
	if err != nil {
		return err //nolint:wrapcheck // It says what it is about.
	}
	pages, err := listenOwn(ctx, "listen", o.listen, &user.DefaultInfo{Name: "snapshot"})
	if err != nil {
		return err
	}
	o.hubControllers = taken.Header.Controllers
	now := func() time.Time { return taken.Header.Time.Time }
	hub := &hubs.Own{
		Broadcast: hubs.NewBroadcast(), Namespace: taken.Header.Namespace,
		Explainer: &answers.Explainer{
			Hub: tools.Hub{Settings: o.settings(), Client: reader, Now: now}, Definitions: definitions, Suggest: suggestName,
		},
	}
	if err := pages.announce(stdout, "the snapshot of "+now().UTC().Format(time.RFC3339)); err != nil {
		return err
	}
	return pages.serve(ctx, hub, now)
}

// readSnapshot reads the snapshot that the flag names.
func (o *dashboardOptions) readSnapshot(stdin io.Reader) (taken *snapshot.Snapshot, err error) {
	var name string
	var content []byte
	err = readPaths("--filename", []string{o.snapshot}, stdin, func(file string, read []byte) { name, content = file, read })
	if err != nil {
		return nil, err
	}
	if taken, err = snapshot.Decode(content); err != nil {
		return nil, inFiles(fmt.Errorf("--filename: %s: %w", name, err))
	}
	return taken, nil
}
