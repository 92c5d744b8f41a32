// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/preflight"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/decoding"
)

// hubFlags select a hub as kubectl does.
type hubFlags struct {
	namespace string
	// connection has the values of the flags, and given the flags.
	connection *genericclioptions.ConfigFlags
	given      *pflag.FlagSet
}

func (f *hubFlags) add(flags *pflag.FlagSet) {
	f.addConnection(flags)
	flags.Lookup("namespace").Usage = "Namespace of objects without one; an object with another namespace is an error. " +
		"Default: the namespace of the context."
}

// connectHub finds a hub and connects to it.
func (f *hubFlags) connectHub() (hub client.Client, config *rest.Config, namespace string, err error) {
	if config, namespace, err = f.find(); err != nil {
		return nil, nil, "", err
	}
	hub, err = connect(config)
	return hub, config, namespace, err
}

// connect returns a client, after a request to check that the hub responds.
func connect(config *rest.Config) (client.Client, error) {
	if err := preflight.Reach(config, config.Timeout); err != nil {
		return nil, err
	}
	return connectAs(config)
}

// connectAs returns a client.
func connectAs(config *rest.Config) (client.Client, error) {
	hub, err := decoding.NewClient(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	return hub, nil
}

// parseNow parses the flag --now; the default is the present time.
func parseNow(text string) (time.Time, error) {
	if text == "" {
		return time.Now(), nil
	}
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return now, fmt.Errorf("--now: %q is no time such as 2026-01-31T12:00:00Z: %w", text, err)
	}
	return now, nil
}

// checkSource reports flags that contradict the origin of the State: a hub, or files.
func (f *hubFlags) checkSource(files []string, watch bool, now string) error {
	switch {
	case len(files) > 0 && f.connects() != "":
		return fmt.Errorf("--filename: the hub is read from files, so %s means nothing; leave out one or the other", f.connects())
	case len(files) > 0 && watch:
		return errors.New("--watch follows a hub, and --filename reads files once; leave out one or the other")
	case watch && now != "":
		return errors.New("--watch follows the present, so --now means nothing; leave out one or the other")
	default:
		return nil
	}
}
