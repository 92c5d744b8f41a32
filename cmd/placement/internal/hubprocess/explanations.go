// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// The flags of the endpoint of explanations.
const (
	explanationsFlag   = "explanations"
	ExplainAddressFlag = "explain-address"
)

// ExplanationOptions say whether and where users get explanations from the hub.
type ExplanationOptions struct {
	Enabled bool
	Address string
}

func (o *ExplanationOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Enabled, explanationsFlag, o.Enabled,
		"Explain objects to users who may read them, on the port of the webhooks; no effect without a controller that serves a webhook. "+
			"The ConfigMap "+endpoint.ConfigMap+" has the address.")
	fs.StringVar(&o.Address, ExplainAddressFlag, o.Address,
		"URL at which users reach the explanations, such as https://explain.example:443; its port must pass TLS through to --webhook-listen. "+
			"By default the Service "+webhookserver.Service+" in --namespace, which clients in the cluster of the hub reach.")
}

// Validate reports an address that is no URL of an endpoint.
func (o *ExplanationOptions) Validate() error {
	if o.Address == "" {
		return nil
	}
	address, err := url.Parse(o.Address)
	if err != nil {
		return fmt.Errorf("--%s: %w", ExplainAddressFlag, err)
	}
	if address.Scheme != "https" || address.Hostname() == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" ||
		address.Path != "" && address.Path != "/" && address.Path != endpoint.Path {
		return fmt.Errorf("--%s: %q must be https://HOST or https://HOST:PORT", ExplainAddressFlag, o.Address)
	}
	if !o.Enabled {
		return errors.New("--" + ExplainAddressFlag + " has no effect with --" + explanationsFlag + "=false; leave one of them out")
	}
	return nil
}

// url returns the URL to publish; empty for the Service.
func (o *ExplanationOptions) url() string {
	if o.Address == "" {
		return ""
	}
	address, err := url.Parse(o.Address)
	if err != nil {
		return "" // validate has returned the error.
	}
	address.Path = endpoint.Path
	return address.String()
}

// explanations returns the function that sets up the endpoint with the rights of the hub; nil if it is off.
func (o *Options) explanations(reviews reviewers, view *controller.View) func(manager.Manager) (*webhookserver.Published, error) {
	if !o.explain.Enabled || o.Observe {
		return nil
	}
	return PublishExplanations(o.explain.url(), o.Controllers, reviews, view)
}

// reviewers returns what authenticates and authorizes those who ask.
type reviewers func(*rest.Config, *http.Client) (authenticator.Request, authorizer.Authorizer, error)

// PublishExplanations returns the function that sets up the endpoint of explanations and publishes its URL; empty means the Service of the webhooks.
func PublishExplanations(
	address string, options system.Options, reviews reviewers, view *controller.View,
) func(manager.Manager) (*webhookserver.Published, error) {
	return func(mgr manager.Manager) (*webhookserver.Published, error) {
		explainer, err := newSharedExplainer(mgr, options, view)
		if err != nil {
			return nil, err
		}
		enabled, err := options.Enabled()
		if err != nil {
			return nil, err
		}
		authentication, authorization, err := reviews(mgr.GetConfig(), mgr.GetHTTPClient())
		if err != nil {
			return nil, err
		}
		return &webhookserver.Published{
			Handler: endpoint.New(authentication, authorization, explainer), Path: endpoint.Path, URL: address,
			ConfigMap: endpoint.ConfigMap, URLKey: endpoint.URLKey, AuthoritiesKey: endpoint.AuthoritiesKey,
			Data: map[string]string{endpoint.ControllersKey: strings.Join(enabled, ",")},
		}, nil
	}
}
