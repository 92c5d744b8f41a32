package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/inventory"
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
			return endpoint.Address{}, fmt.Errorf("--endpoint-ca: %w", err)
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
func (o *explainOptions) ask(ctx context.Context, from *source, namespace string, objects []endpoint.Object) (string, error) {
	switch {
	case o.now != "":
		return "", errors.New("the hub explains the present, so it was not asked because of --now")
	case namespace == "":
		return "", errors.New("the hub explains the objects of one namespace at a time, so it was not asked; name one with -n")
	}
	address, err := o.address(ctx, from.hub)
	if err != nil {
		return "", err
	}
	answer, err := endpoint.Ask(ctx, from.config, address, endpoint.Question{
		Namespace: namespace, Objects: objects, Clusters: o.clusters, Output: o.output, Color: o.color,
		AllClusters: o.allClusters, Width: min(o.width, maxAskedWidth),
	})
	return answer.Output, err
}

// askPlacements asks the hub to explain Placements, of each namespace in a request of its own.
func (o *explainOptions) askPlacements(ctx context.Context, from *source, keys []inventory.Key) (string, error) {
	var (
		namespaces []string
		objects    = map[string][]endpoint.Object{}
	)
	for _, key := range keys {
		if _, known := objects[key.Namespace]; !known {
			namespaces = append(namespaces, key.Namespace)
		}
		kind := api.Of(key).Kind()
		objects[key.Namespace] = append(objects[key.Namespace], endpoint.Object{Group: kind.Group, Kind: kind.Kind, Name: key.Name})
	}
	var (
		texts []string
		errs  []error
	)
	for _, namespace := range namespaces {
		text, err := o.ask(ctx, from, namespace, objects[namespace])
		if !answered(err) {
			return "", err
		}
		texts, errs = append(texts, text), append(errs, err)
	}
	return strings.Join(texts, o.between()), errors.Join(errs...)
}

// answered reports whether the hub has answered, also with an error about the question.
func answered(err error) bool {
	answer := (*endpoint.AnswerError)(nil)
	return err == nil || errors.As(err, &answer)
}

// unanswered returns the error about missing rights of a user whom the hub does not explain the object either.
func unanswered(refused, asked error) error {
	return fmt.Errorf("%w\nthe hub does not explain it instead: %w", refused, asked)
}
