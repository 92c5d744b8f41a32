// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/system"
)

// listen binds the address of the webhooks if a controller that serves one runs.
func (o *controllerOptions) listen(ctx context.Context) error {
	serves, err := o.controllers.ServesWebhook()
	if err != nil {
		return fmt.Errorf("--controllers: %w", err)
	}
	if !serves {
		return nil
	}
	webhook := &o.controllers.Webhook
	if webhook.TLS, err = o.serving.TLS(); err != nil {
		return err
	}
	var listen net.ListenConfig
	if webhook.Listener, err = listen.Listen(ctx, o.serving.Network, o.webhook); err != nil {
		return fmt.Errorf("--webhook-listen: %w; choose another address, or leave these controllers off: %s",
			err, strings.Join(system.WebhookNames(), ", "))
	}
	return nil
}

// closeListener releases an address, unless it is closed already.
func closeListener(listener net.Listener) error {
	if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing the listener of the webhooks: %w", err)
	}
	return nil
}
