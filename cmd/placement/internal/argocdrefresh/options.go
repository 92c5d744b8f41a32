// SPDX-License-Identifier: Apache-2.0

package argocdrefresh

import (
	"fmt"
	"net"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/placement-hub/placement-hub/pkg/argocdrefresh/controller"
)

// shortestInterval bounds the writes of an ApplicationSet.
const shortestInterval = time.Second

// Options are the flags of the process.
type Options struct {
	// Namespace is that of Argo CD, Interval the shortest time between two refreshes of one ApplicationSet.
	Namespace string
	Interval  time.Duration
	// Metrics and Probes are host:port to listen on; "0" is none.
	Metrics, Probes string
}

// AddFlags adds the flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Namespace, "argocd-namespace", "argocd", "Namespace of Argo CD. ApplicationSets of other namespaces are not refreshed.")
	flags.DurationVar(&o.Interval, "min-interval", controller.DefaultInterval,
		"Shortest time between two refreshes of one ApplicationSet, at least 1s. The last change is never dropped.")
	flags.StringVar(&o.Metrics, "metrics-listen", "0",
		"Address of /metrics over HTTP, such as 127.0.0.1:8080, for everybody who reaches it; 0 is none.")
	flags.StringVar(&o.Probes, "probes-listen", "0", "Address of /healthz and /readyz over HTTP, such as :8081; 0 is none.")
}

// Validate returns an error that names a flag with a bad value.
func (o *Options) Validate() error {
	if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
		return fmt.Errorf("--argocd-namespace: %q is no name of a namespace; name that of Argo CD", o.Namespace)
	}
	if o.Interval < shortestInterval {
		return fmt.Errorf("--min-interval: %s is shorter than %s; use a longer one", o.Interval, shortestInterval)
	}
	for _, listen := range []struct{ flag, address string }{{"--metrics-listen", o.Metrics}, {"--probes-listen", o.Probes}} {
		if listen.address == "0" {
			continue
		}
		if _, _, err := net.SplitHostPort(listen.address); err != nil {
			return fmt.Errorf("%s: %w; use host:port, or 0 for none", listen.flag, err)
		}
	}
	return nil
}
