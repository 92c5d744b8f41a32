// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// askFlags say where the hub explains objects to users who may not read all that decides about them.
type askFlags struct {
	endpoint     string
	endpointCA   string
	hubNamespace string
}

func (f *askFlags) addAsk(flags *pflag.FlagSet) {
	flags.StringVar(&f.endpoint, "endpoint", "",
		"URL of the hub's explanations, for users who may not read all that an explanation needs. Default: the address in the ConfigMap "+
			endpoint.ConfigMap+" of --hub-namespace.")
	flags.StringVar(&f.endpointCA, "endpoint-ca", "",
		"File with the certificate authorities to trust at --endpoint, in PEM. Default: those in the ConfigMap, which trust the hub at any address.")
	flags.StringVar(&f.hubNamespace, "hub-namespace", defaultNamespace, "Namespace in which the hub runs.")
}

// maxAskedWidth bounds the columns of a terminal that the hub is asked to use.
const maxAskedWidth = 1000

// address returns where to ask.
func (f *askFlags) address(ctx context.Context, hub client.Reader) (endpoint.Address, error) {
	if f.endpoint != "" && f.endpointCA != "" {
		authorities, err := os.ReadFile(f.endpointCA)
		if err != nil {
			return endpoint.Address{}, inFiles(fmt.Errorf("--endpoint-ca: %w", err))
		}
		return endpoint.Address{URL: f.endpoint, Authorities: authorities}, nil
	}
	published, err := endpoint.Discover(ctx, hub, f.hubNamespace)
	if err != nil || f.endpoint == "" {
		return published, err
	}
	// The authorities of the ConfigMap have signed certificates of the hub alone, whatever address leads to it.
	known, err := url.Parse(published.URL)
	if err != nil {
		return endpoint.Address{}, fmt.Errorf("the address in ConfigMap %s: %w", endpoint.ConfigMap, err)
	}
	return endpoint.Address{URL: f.endpoint, Authorities: published.Authorities, ServerName: known.Hostname()}, nil
}

// ask asks the hub to explain objects of a namespace; none lists the unsatisfied Placements. The error is an *endpoint.AnswerError if the hub
// has answered with it.
func (o *explainOptions) ask(ctx context.Context, from *source, namespace string, objects []endpoint.Object) (endpoint.Answer, error) {
	switch {
	case o.now != "":
		return endpoint.Answer{}, errors.New("the hub explains the present, so it was not asked because of --now")
	case o.selector != nil:
		return endpoint.Answer{}, errSelectorUnread
	case namespace == "":
		return endpoint.Answer{}, errors.New("the hub explains the objects of one namespace at a time, so it was not asked; name one with -n instead of -A")
	}
	return o.send(ctx, from.hub, from.config, endpoint.Question{
		Command: endpoint.CommandExplain, Namespace: namespace, Objects: objects, Clusters: o.clusters, Output: o.output, Color: o.color,
		AllClusters: o.allClusters, Width: min(o.width, maxAskedWidth),
	})
}

// askPlacements asks the hub to explain Placements, of each namespace in a request of its own.
func (o *explainOptions) askPlacements(ctx context.Context, from *source, keys []inventory.Key) (endpoint.Answer, error) {
	var (
		namespaces []string
		objects    = map[string][]endpoint.Object{}
	)
	for _, key := range keys {
		if _, known := objects[key.Namespace]; !known {
			namespaces = append(namespaces, key.Namespace)
		}
		objects[key.Namespace] = append(objects[key.Namespace], objectOf(key))
	}
	var (
		texts []string
		errs  []error
	)
	for _, namespace := range namespaces {
		answer, err := o.ask(ctx, from, namespace, objects[namespace])
		if !endpoint.Answered(err) {
			return endpoint.Answer{}, err
		}
		texts, errs = append(texts, answer.Output), append(errs, err)
	}
	return endpoint.Answer{Output: strings.Join(texts, o.between())}, errors.Join(errs...)
}

// controllers returns the controllers that the hub says it runs; nil if it says nothing.
func (f *askFlags) controllers(ctx context.Context, hub client.Reader) ([]string, error) {
	return endpoint.Controllers(ctx, hub, f.hubNamespace)
}

// send sends a question to the hub. The error is an *endpoint.AnswerError if the hub has answered with it.
func (f *askFlags) send(ctx context.Context, hub client.Reader, config *rest.Config, question endpoint.Question) (endpoint.Answer, error) {
	address, err := f.address(ctx, hub)
	if err != nil {
		return endpoint.Answer{}, err
	}
	return endpoint.Ask(ctx, config, address, question)
}

// asker returns a function that sends questions to the hub as send does.
func (f *askFlags) asker(
	config *rest.Config,
) func(ctx context.Context, hub client.Reader, question endpoint.Question) (endpoint.Answer, error) {
	return func(ctx context.Context, hub client.Reader, question endpoint.Question) (endpoint.Answer, error) {
		return f.send(ctx, hub, config, question)
	}
}

// objectOf returns a Placement as a question names it.
func objectOf(key inventory.Key) endpoint.Object {
	kind := api.Of(key).Kind()
	return endpoint.Object{Group: kind.Group, Kind: kind.Kind, Name: key.Name}
}

// askUnread asks the hub for a user whose rights do not suffice, about which refused is. The answer is nil if the hub has not answered: the error
// says then which rights the user lacks, and why the hub has not answered. Any other refused error stays as it is.
func askUnread(refused error, ask func() (endpoint.Answer, error)) (*endpoint.Answer, error) {
	if !apierrors.IsForbidden(refused) {
		return nil, refused
	}
	answer, err := ask()
	if endpoint.Answered(err) {
		return &answer, err
	}
	return nil, endpoint.Unanswered(refused, err)
}

// writeAnswer writes the output of an answer of the hub, and returns the error that came with it.
func writeAnswer(stdout io.Writer, answer *endpoint.Answer, asked error) error {
	if _, err := io.WriteString(stdout, answer.Output); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	return asked
}

// watchRefused returns the error about missing rights of a user for whom nothing is watched; any other error stays as it is.
func watchRefused(refused error) error {
	if !apierrors.IsForbidden(refused) {
		return refused
	}
	return endpoint.Unanswered(refused, errors.New("it answers once and is not watched; leave --watch out to ask it"))
}
