// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/system"
)

// Listen binds the address of the webhooks if a controller that serves one runs.
func (o *Options) Listen(ctx context.Context) error {
	serves, err := o.Controllers.ServesWebhook()
	if err != nil {
		return fmt.Errorf("--controllers: %w", err)
	}
	if !serves {
		return nil
	}
	webhook := &o.Controllers.Webhook
	if webhook.TLS, err = o.Serving.TLS(); err != nil {
		return err
	}
	var listen net.ListenConfig
	if webhook.Listener, err = listen.Listen(ctx, o.Serving.Network, o.webhook); err != nil {
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
