// SPDX-License-Identifier: Apache-2.0

package hubflags

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

// DefaultNamespace is the namespace of the hub unless a flag names another one.
const DefaultNamespace = "open-cluster-management-hub"

// Hub select a hub as kubectl does.
type Hub struct {
	Namespace string
	// connection has the values of the flags, and given the flags.
	connection *genericclioptions.ConfigFlags
	given      *pflag.FlagSet
}

// Add adds the flags.
func (h *Hub) Add(flags *pflag.FlagSet) {
	h.AddConnection(flags)
	flags.Lookup("namespace").Usage = "Namespace of objects without one; an object with another namespace is an error. " +
		"Default: the namespace of the context."
}

// ConnectHub finds a hub and connects to it.
func (h *Hub) ConnectHub() (hub client.Client, config *rest.Config, namespace string, err error) {
	if config, namespace, err = h.Find(); err != nil {
		return nil, nil, "", err
	}
	hub, err = Connect(config)
	return hub, config, namespace, err
}

// Connect returns a client, after a request to check that the hub responds.
func Connect(config *rest.Config) (client.Client, error) {
	if err := preflight.Reach(config, config.Timeout); err != nil {
		return nil, err
	}
	return ConnectAs(config)
}

// ConnectAs returns a client.
func ConnectAs(config *rest.Config) (client.Client, error) {
	hub, err := decoding.NewClient(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	return hub, nil
}

// ParseNow parses the flag --now; the default is the present time.
func ParseNow(text string) (time.Time, error) {
	if text == "" {
		return time.Now(), nil
	}
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return now, fmt.Errorf("--now: %q is no time such as 2026-01-31T12:00:00Z: %w", text, err)
	}
	return now, nil
}

// CheckSource reports flags that contradict the origin of the State: a hub, or files.
func (h *Hub) CheckSource(files []string, watch bool, now string) error {
	switch {
	case len(files) > 0 && h.Connects() != "":
		return fmt.Errorf("--filename: the hub is read from files, so %s means nothing; leave out one or the other", h.Connects())
	case len(files) > 0 && watch:
		return errors.New("--watch follows a hub, and --filename reads files once; leave out one or the other")
	case watch && now != "":
		return errors.New("--watch follows the present, so --now means nothing; leave out one or the other")
	default:
		return nil
	}
}
