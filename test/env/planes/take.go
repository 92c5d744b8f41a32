// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// Socket is the path of the socket of the process that lends control planes. The main function of a test program sets it; while it is empty,
// Take starts them.
var Socket string

// offer is what the keeper answers to a client that connects. The client has the control plane until it closes the connection.
type offer struct {
	localplane.Running
	Error string `json:"error,omitempty"`
}

// Take returns a control plane that has the manifests of the hub and nothing else, with the controllers of Options.ControllerManager and an
// audit log. The caller calls giveBack when everything has ended that it started there. log gets the progress of a control plane that starts.
func Take(ctx context.Context, log io.Writer) (plane *localplane.ControlPlane, giveBack func() error, err error) {
	if Socket == "" {
		plane, err := startInstalled(ctx, log)
		if err != nil {
			return nil, nil, err
		}
		return plane, plane.Stop, nil
	}

	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "unix", Socket)
	if err != nil {
		return nil, nil, fmt.Errorf("asking for a control plane: %w", err)
	}
	if plane, err = accept(ctx, connection); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("asking for a control plane: %w", err), connection.Close())
	}
	giveBack = func() error {
		err := plane.Stop()
		if _, said := connection.Write(unused); said != nil {
			err = errors.Join(err, said)
		}
		_, heard := io.Copy(io.Discard, connection) // until the keeper closes it
		return errors.Join(err, heard, connection.Close())
	}
	return plane, giveBack, nil
}

// Lend takes a control plane for a test.
func Lend(t *testing.T) *localplane.ControlPlane {
	t.Helper()
	plane, giveBack, err := Take(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := giveBack(); err != nil {
			t.Error(err)
		}
	})
	return plane
}

// unused is what a client sends when it needs its control plane no more; the keeper then closes the connection. A connection that ends
// without it is that of a process that was killed, and whose programs may still write.
var unused = []byte("unused\n")

// accept reads the offer of the keeper until ctx ends.
func accept(ctx context.Context, connection net.Conn) (*localplane.ControlPlane, error) {
	stop := context.AfterFunc(ctx, func() { connection.Close() }) //nolint:errcheck // It ends the read, whose error says so.
	defer stop()
	var offered offer
	if err := json.NewDecoder(connection).Decode(&offered); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", errors.Join(err, context.Cause(ctx)))
	}
	if offered.Error != "" {
		return nil, errors.New(offered.Error)
	}
	return localplane.Attach(offered.Running)
}

// startInstalled starts a control plane and installs the manifests.
func startInstalled(ctx context.Context, log io.Writer) (*localplane.ControlPlane, error) {
	plane, err := localplane.Start(ctx, localplane.Options{ControllerManager: true, AuditLog: true, Log: log})
	if err != nil {
		return nil, err
	}
	if err := manifests.Install(ctx, plane.AdminConfig()); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return plane, nil
}
