package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/preflight"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/lenient"
)

// readTimeout bounds each request, so that a hub that stops responding is reported.
const readTimeout = time.Minute

// hubFlags select a hub as kubectl does.
type hubFlags struct {
	kubeconfig string
	context    string
	namespace  string
}

func (f *hubFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "Kubeconfig of the hub. Default: $KUBECONFIG, ~/.kube/config, or the pod's service account.")
	flags.StringVar(&f.context, "context", "", "Context of the kubeconfig to use. Default: its current context.")
	flags.StringVarP(&f.namespace, "namespace", "n", "",
		"Namespace of placements without one; a placement with another namespace is an error. Default: the namespace of the context.")
}

func (f *hubFlags) clientConfig() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: f.context}
	overrides.Context.Namespace = f.namespace
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
}

// find returns the connection and the namespace of the context.
func (f *hubFlags) find() (config *rest.Config, namespace string, err error) {
	found := f.clientConfig()
	config, err = found.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errors.New("no hub to connect to: name a kubeconfig with --kubeconfig or $KUBECONFIG, or files with --hub")
	}
	if err != nil {
		return nil, "", fmt.Errorf("loading the kubeconfig: %w; correct it, or name another with --kubeconfig or --context", err)
	}
	if namespace, _, err = found.Namespace(); err != nil {
		return nil, "", fmt.Errorf("loading the kubeconfig: %w; name a namespace with --namespace", err)
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	config.Timeout = readTimeout
	return config, namespace, nil
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
	if err := preflight.Reach(config); err != nil {
		return nil, err
	}
	hub, err := lenient.NewClient(config, client.Options{Scheme: scheme.New()})
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
	case len(files) > 0 && (f.kubeconfig != "" || f.context != ""):
		return errors.New("--filename: the hub is read from files, so --kubeconfig and --context mean nothing; leave out one or the other")
	case len(files) > 0 && watch:
		return errors.New("--watch follows a hub, and --filename reads files once; leave out one or the other")
	case watch && now != "":
		return errors.New("--watch follows the present, so --now means nothing; leave out one or the other")
	default:
		return nil
	}
}
