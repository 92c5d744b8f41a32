// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client decodes typed objects of the hub's own kinds leniently on Get and List. All other calls go to the embedded client.
type Client struct {
	client.WithWatch

	through *connection
}

// NewClient is client.NewWithWatch with lenient reads. It returns an error if the configuration is invalid.
func NewClient(config *rest.Config, options client.Options) (*Client, error) {
	strict, err := client.NewWithWatch(config, options)
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	httpClient := options.HTTPClient
	if httpClient == nil {
		if httpClient, err = rest.HTTPClientFor(config); err != nil {
			return nil, fmt.Errorf("making an HTTP client for %s: %w", config.Host, err)
		}
	}
	return &Client{WithWatch: strict, through: newConnection(config, httpClient, strict.RESTMapper(), strict.Scheme())}, nil
}

// Get reads an object.
func (c *Client) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	kind, ours := covered(object, c.through.scheme)
	if !ours {
		return c.WithWatch.Get(ctx, key, object, options...) //nolint:wrapcheck // The method replaces that of the client.
	}
	at, err := c.through.endpointOf(kind)
	if err != nil {
		return err
	}
	asked := (&client.GetOptions{}).ApplyOptions(options).AsGetOptions()
	return at.Get().NamespaceIfScoped(key.Namespace, at.namespaced).Resource(at.resource). //nolint:wrapcheck // As above.
												VersionedParams(asked, c.through.parameters).Name(key.Name).Do(ctx).Into(object)
}

// List reads the objects that the options select.
func (c *Client) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	kind, ours := covered(list, c.through.scheme)
	if !ours {
		return c.WithWatch.List(ctx, list, options...) //nolint:wrapcheck // The method replaces that of the client.
	}
	at, err := c.through.endpointOf(itemKind(kind))
	if err != nil {
		return err
	}
	asked := (&client.ListOptions{}).ApplyOptions(options)
	return at.list(asked.Namespace, asked.AsListOptions(), c.through.parameters).Do(ctx).Into(list) //nolint:wrapcheck // As above.
}
