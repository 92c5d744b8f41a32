// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
)

// Ask say where the hub explains objects to users who may not read all that decides about them.
type Ask struct {
	endpoint     string
	endpointCA   string
	HubNamespace string
}

// AddAsk adds the flags.
func (a *Ask) AddAsk(flags *pflag.FlagSet) {
	flags.StringVar(&a.endpoint, "endpoint", "",
		"URL of the hub's explanations, for users who may not read all that an explanation needs. Default: the address in the ConfigMap "+
			endpoint.ConfigMap+" of --hub-namespace.")
	flags.StringVar(&a.endpointCA, "endpoint-ca", "",
		"File with the certificate authorities to trust at --endpoint, in PEM. Default: those in the ConfigMap, which trust the hub at any address.")
	flags.StringVar(&a.HubNamespace, "hub-namespace", DefaultNamespace, "Namespace in which the hub runs.")
}

// address returns where to ask.
func (a *Ask) address(ctx context.Context, hub client.Reader) (endpoint.Address, error) {
	if a.endpoint != "" && a.endpointCA != "" {
		authorities, err := os.ReadFile(a.endpointCA)
		if err != nil {
			return endpoint.Address{}, exit.InFiles(fmt.Errorf("--endpoint-ca: %w", err))
		}
		return endpoint.Address{URL: a.endpoint, Authorities: authorities}, nil
	}
	published, err := endpoint.Discover(ctx, hub, a.HubNamespace)
	if err != nil || a.endpoint == "" {
		return published, err
	}
	// The authorities of the ConfigMap have signed certificates of the hub alone, whatever address leads to it.
	known, err := url.Parse(published.URL)
	if err != nil {
		return endpoint.Address{}, fmt.Errorf("the address in ConfigMap %s: %w", endpoint.ConfigMap, err)
	}
	return endpoint.Address{URL: a.endpoint, Authorities: published.Authorities, ServerName: known.Hostname()}, nil
}

// Controllers returns the controllers that the hub says it runs; nil if it says nothing.
func (a *Ask) Controllers(ctx context.Context, hub client.Reader) ([]string, error) {
	return endpoint.Controllers(ctx, hub, a.HubNamespace)
}

// Send sends a question to the hub. The error is an *endpoint.AnswerError if the hub has answered with it.
func (a *Ask) Send(ctx context.Context, hub client.Reader, config *rest.Config, question endpoint.Question) (endpoint.Answer, error) {
	address, err := a.address(ctx, hub)
	if err != nil {
		return endpoint.Answer{}, err
	}
	return endpoint.Ask(ctx, config, address, question)
}

// Asker returns a function that sends questions to the hub as send does.
func (a *Ask) Asker(
	config *rest.Config,
) func(ctx context.Context, hub client.Reader, question endpoint.Question) (endpoint.Answer, error) {
	return func(ctx context.Context, hub client.Reader, question endpoint.Question) (endpoint.Answer, error) {
		return a.Send(ctx, hub, config, question)
	}
}

// AskUnread asks the hub for a user whose rights do not suffice, about which refused is. The answer is nil if the hub has not answered: the error
// says then which rights the user lacks, and why the hub has not answered. Any other refused error stays as it is.
func AskUnread(refused error, ask func() (endpoint.Answer, error)) (*endpoint.Answer, error) {
	if !apierrors.IsForbidden(refused) {
		return nil, refused
	}
	answer, err := ask()
	if endpoint.Answered(err) {
		return &answer, err
	}
	return nil, endpoint.Unanswered(refused, err)
}

// WriteAnswer writes the output of an answer of the hub, and returns the error that came with it.
func WriteAnswer(stdout io.Writer, answer *endpoint.Answer, asked error) error {
	if _, err := io.WriteString(stdout, answer.Output); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	return asked
}

// WatchRefused returns the error about missing rights of a user for whom nothing is watched; any other error stays as it is.
func WatchRefused(refused error) error {
	if !apierrors.IsForbidden(refused) {
		return refused
	}
	return endpoint.Unanswered(refused, errors.New("it answers once and is not watched; leave --watch out to ask it"))
}
