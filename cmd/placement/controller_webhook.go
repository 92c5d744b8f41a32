package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/controller/webhookconfig"
)

// listen binds the address of the webhook if its controller runs.
func (o *controllerOptions) listen(ctx context.Context) error {
	enabled, err := o.controllers.Enabled()
	if err != nil {
		return fmt.Errorf("--controllers: %w", err)
	}
	if !slices.Contains(enabled, webhookconfig.Defaults) {
		return nil
	}
	webhook := &o.controllers.Webhook
	if webhook.TLS, err = o.serving.TLS(); err != nil {
		return err
	}
	var listen net.ListenConfig
	if webhook.Listener, err = listen.Listen(ctx, o.serving.Network, o.webhook); err != nil {
		return fmt.Errorf("--webhook-listen: %w; choose another address, or leave the controller %s off", err, webhookconfig.Defaults)
	}
	return nil
}

// closeListener releases an address, unless it is closed already.
func closeListener(listener net.Listener) error {
	if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing the listener of the webhook: %w", err)
	}
	return nil
}
