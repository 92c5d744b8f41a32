// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"errors"
	"fmt"
	"math"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
)

// RestConfig finds the hub and applies the client-side rate limit, if there is one.
func (o *Options) RestConfig() (*rest.Config, error) {
	config, err := FindHub(o.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	// A negative value switches client-go's limiter off: priority and fairness of the API server knows better.
	config.QPS, config.Burst = -1, 0
	if o.QPS > 0 {
		config.QPS, config.Burst = o.QPS, o.Burst
		if config.Burst == 0 {
			config.Burst = int(math.Ceil(2 * float64(o.QPS)))
		}
	}
	return config, nil
}

// FindHub looks in --kubeconfig, $KUBECONFIG, the pod's service account and ~/.kube/config, in this order.
func FindHub(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	switch {
	case kubeconfig != "":
		rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	case os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "":
		config, err := rest.InClusterConfig()
		if err == nil {
			return config, nil
		}
		if !errors.Is(err, rest.ErrNotInCluster) {
			return nil, fmt.Errorf("using the pod's service account: %w; mount its token, or name a kubeconfig with --kubeconfig", err)
		}
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, hubflags.NoHub("run in a pod of the hub")
	}
	if err != nil {
		return nil, hubflags.Unloaded(fmt.Errorf("loading the kubeconfig: %w; correct it, or name another with --kubeconfig", err))
	}
	return config, nil
}
