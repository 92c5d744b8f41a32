// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/endpoint"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/tracing"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/system"
)

const (
	pprofFlag = "pprof"

	serviceAccountNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	// A Service's serving certificate is mounted here on OpenShift; used when neither a file nor a flag names another.
	defaultServingCertDir = "/var/run/secrets/serving-cert"
)

// controllerOptions are the options of `placement controller`. Flags take precedence over the file of --config, and that over the defaults;
// complete fills options that no flag has set from the configuration file and the environment. changed reports whether a flag was set on
// the command line.
type controllerOptions struct {
	configFile       string
	kubeconfig       string
	namespace        string
	terminateOnFiles []string
	qps              float32
	burst            int
	tracingFile      string
	tracing          *tracing.Config // nil: no traces
	pprof            string
	flags            []string // those that differ from the defaults, for the log

	serving     endpoint.Options
	reviews     *endpoint.ReviewBounds
	webhook     string // address that API servers ask at
	explain     explanationOptions
	dashboard   string // address of the pages; empty for none
	election    election.Options
	controllers system.Options
	// observe serves evaluations of Placements, and runs no controller.
	observe bool
}

func newControllerOptions() *controllerOptions {
	controllers := system.DefaultOptions()
	controllers.Controllers = []string{"placement"}
	return &controllerOptions{
		serving:     endpoint.Defaults(),
		reviews:     endpoint.NewReviewBounds(),
		election:    election.Defaults(),
		webhook:     "0.0.0.0:9443",
		explain:     explanationOptions{enabled: true},
		controllers: controllers,
	}
}

func (o *controllerOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.configFile, "config", o.configFile,
		"File of kind "+operatorConfigKind+" ("+operatorConfigAPIVersion+"). Flags on the command line override it.")
	fs.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig,
		"Kubeconfig of the hub. By default $KUBECONFIG, then the pod's service account, then ~/.kube/config.")
	fs.StringVar(&o.namespace, "namespace", o.namespace,
		"Namespace of the leader election lease, the ConfigMap "+managedcluster.VocabularyConfigMap+" and the Secret "+webhookserver.Secret+
			". By default $POD_NAMESPACE, then the pod's namespace, then "+hubflags.DefaultNamespace+".")
	fs.StringArrayVar(&o.terminateOnFiles, "terminate-on-files", o.terminateOnFiles,
		"End with code 0 when one of these files is created, changed or removed.")
	fs.Float32Var(&o.qps, "kube-api-qps", o.qps,
		"Maximal number of requests per second to the API server; 0 is no limit, so that the API server alone limits requests.")
	fs.IntVar(&o.burst, "kube-api-burst", o.burst,
		"Maximal number of requests at once above --kube-api-qps; 0 is twice --kube-api-qps. No effect if --kube-api-qps is 0.")

	fs.StringSliceVar(&o.controllers.Controllers, "controllers", o.controllers.Controllers,
		"Controllers to run: '*' is all without a system, 'system/*' is all of a system, 'name' adds one, '-name' removes one. "+
			"Names: "+strings.Join(system.Names(), ", ")+".")
	fs.IntVar(&o.controllers.Workers, "workers", o.controllers.Workers,
		"Number of Placements to reconcile at the same time; 0 is 16 for each CPU, at most 128, because workers mostly wait for the API server.")

	addProfileDecisionsFlag(fs, &o.controllers.ProfileDecisions)
	hubflags.AddRemovalFlags(fs, &o.controllers, removalbudget.NoLimit)
	o.controllers.AddFlags(fs)

	addTracingFlag(fs, &o.tracingFile)

	fs.BoolVar(&o.election.Disable, "disable-leader-election", o.election.Disable,
		"Run without a lease. Then only one process may run against the hub.")
	fs.DurationVar(&o.election.LeaseDuration, "leader-election-lease-duration", o.election.LeaseDuration,
		"Time after the last renewal of the lease after which a standby takes the lease over.")
	fs.DurationVar(&o.election.RenewDeadline, "leader-election-renew-deadline", o.election.RenewDeadline,
		"Time for which the leader tries to renew the lease before the process ends.")
	fs.DurationVar(&o.election.RetryPeriod, "leader-election-retry-period", o.election.RetryPeriod,
		"Time between two renewals of the lease. Standbys check every second, so they take a released lease over earlier.")

	fs.StringVar(&o.serving.Address, "listen", o.serving.Address,
		"Address of the HTTPS endpoint for /metrics, /debug/placements/, /healthz, /livez, /readyz and /readyz/evaluation; "+
			"port 0 selects a free port.")
	fs.StringVar(&o.webhook, "webhook-listen", o.webhook,
		"HTTPS address of the webhooks of the controllers "+strings.Join(system.WebhookNames(), ", ")+"; port 0 selects a free port. "+
			"The certificate has the host names in the webhook configurations.")
	o.explain.addFlags(fs)
	o.addDashboardFlag(fs)
	fs.StringVar(&o.serving.MinTLSVersion, "tls-min-version", o.serving.MinTLSVersion,
		"Minimum TLS version of the endpoints; by default VersionTLS12. One of "+strings.Join(cliflag.TLSPossibleVersions(), ", ")+".")
	fs.StringSliceVar(&o.serving.CipherSuites, "tls-cipher-suites", o.serving.CipherSuites,
		"Cipher suites served up to TLS 1.2; by default Go's choice. Preferred: "+strings.Join(cliflag.PreferredTLSCipherNames(), ", ")+".")
	fs.StringVar(&o.pprof, pprofFlag, o.pprof,
		"Loopback address, such as 127.0.0.1:6060, that serves the profiles of net/http/pprof without authentication. By default none are served.")
	addLoggingFlags(fs)
	addLogFormatFlag(fs)
}

func addProfileDecisionsFlag(fs *pflag.FlagSet, value *bool) {
	fs.BoolVar(value, "sig-placement-decisions", *value,
		"Also write the decisions of "+clusterv1beta1.GroupName+"/v1beta1 Placements as PlacementDecisions of multicluster.x-k8s.io, "+
			"which refer to ClusterProfiles.")
}

func addTracingFlag(fs *pflag.FlagSet, file *string) {
	fs.StringVar(file, tracing.Flag, *file,
		"File of kind TracingConfiguration (apiserver.config.k8s.io/v1), as for kube-apiserver: the collector of the traces, and the number of "+
			"evaluations to trace in a million. By default the hub sends no traces.")
}

// environment are the parts of the process environment that complete reads.
type environment struct {
	getenv         func(string) string
	namespaceFile  string
	servingCertDir string
}

func processEnvironment() environment {
	return environment{getenv: os.Getenv, namespaceFile: serviceAccountNamespaceFile, servingCertDir: defaultServingCertDir}
}

// complete merges the configuration file and the surroundings into what the flags left at their defaults. changed answers
// whether a flag was set on the command line.
func (o *controllerOptions) complete(changed func(flag string) bool, env environment) error {
	if o.configFile != "" {
		config, err := loadOperatorConfig(o.configFile)
		if err != nil {
			return err
		}
		o.applyConfig(config, changed)
		o.terminateOnFiles = append(o.terminateOnFiles, o.configFile)
	}
	config, err := tracing.Load(o.tracingFile)
	if err != nil {
		return err
	}
	o.tracing = config
	if o.namespace == "" {
		namespace, err := findNamespace(env)
		if err != nil {
			return err
		}
		o.namespace = namespace
	}
	if o.controllers.Namespace == "" {
		o.controllers.Namespace = o.namespace
	}
	if o.election.Namespace == "" || changed("namespace") {
		o.election.Namespace = o.namespace
	}
	o.terminateOnFiles = append(o.terminateOnFiles, o.serving.UseMountedCertificate(env.servingCertDir)...)
	return nil
}

func (o *controllerOptions) applyConfig(c *operatorConfig, changed func(flag string) bool) {
	s, e := c.ServingInfo, c.LeaderElection
	override(&o.serving.Address, s.BindAddress, changed("listen"))
	override(&o.serving.Network, s.BindNetwork, false)
	override(&o.serving.CertFile, s.CertFile, false)
	override(&o.serving.KeyFile, s.KeyFile, false)
	override(&o.serving.MinTLSVersion, s.MinTLSVersion, changed("tls-min-version"))
	if len(s.CipherSuites) > 0 && !changed("tls-cipher-suites") {
		o.serving.CipherSuites = s.CipherSuites
	}
	o.serving.Open = c.Authentication.Disabled && c.Authorization.Disabled

	override(&o.election.Disable, e.Disable, changed("disable-leader-election"))
	override(&o.election.Namespace, e.Namespace, false)
	override(&o.election.Name, e.Name, false)
	override(&o.election.LeaseDuration, e.LeaseDuration.Duration, changed("leader-election-lease-duration"))
	override(&o.election.RenewDeadline, e.RenewDeadline.Duration, changed("leader-election-renew-deadline"))
	override(&o.election.RetryPeriod, e.RetryPeriod.Duration, changed("leader-election-retry-period"))
}

// override sets *to unless the value is empty or a flag already decided.
func override[T comparable](to *T, value T, flagDecided bool) {
	var empty T
	if value != empty && !flagDecided {
		*to = value
	}
}

func findNamespace(env environment) (string, error) {
	if namespace := env.getenv("POD_NAMESPACE"); namespace != "" {
		return namespace, nil
	}
	data, err := os.ReadFile(env.namespaceFile)
	if errors.Is(err, os.ErrNotExist) {
		return hubflags.DefaultNamespace, nil
	}
	if err != nil {
		return "", fmt.Errorf("finding the namespace of this pod: %w; name it with --namespace", err)
	}
	if namespace := strings.TrimSpace(string(data)); namespace != "" {
		return namespace, nil
	}
	return hubflags.DefaultNamespace, nil
}

// validate reports everything that is wrong at once.
func (o *controllerOptions) validate() error {
	var errs []error
	if o.qps < 0 {
		errs = append(errs, fmt.Errorf("--kube-api-qps: %v is negative; use 0 for no limit", o.qps))
	}
	if o.burst < 0 {
		errs = append(errs, fmt.Errorf("--kube-api-burst: %d is negative; use 0 for twice --kube-api-qps", o.burst))
	}
	if o.controllers.Workers < 0 {
		errs = append(errs, fmt.Errorf("--workers: %d is negative; use 0 for 16 for each CPU, at most 128", o.controllers.Workers))
	}
	if enabled, err := o.controllers.Enabled(); err != nil {
		errs = append(errs, fmt.Errorf("--controllers: %w", err))
	} else {
		errs = append(errs, o.validateDependents(enabled))
	}
	errs = append(errs, o.controllers.Validate())
	if _, _, err := net.SplitHostPort(o.webhook); err != nil {
		errs = append(errs, fmt.Errorf("--webhook-listen: %w; use host:port, for example 0.0.0.0:9443", err))
	}
	return errors.Join(append(errs, o.explain.validate(), validatePprof(o.pprof), o.election.Validate(), o.serving.Validate())...)
}

// validatePprof reports an address that other machines can reach: profiles are served to every caller.
func validatePprof(address string) error {
	if address == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--%s: %w; use a loopback address and a port, for example 127.0.0.1:6060", pprofFlag, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("--%s: %q is not a loopback IP address, and profiles are served without authentication; use for example 127.0.0.1:6060",
			pprofFlag, host)
	}
	return nil
}

// validateDependents reports flags that have no effect without a controller that is not enabled.
func (o *controllerOptions) validateDependents(enabled []string) error {
	var errs []error
	if o.controllers.ProfileDecisions && !slices.Contains(enabled, "placement") {
		errs = append(errs, errors.New("--sig-placement-decisions repeats what the controller placement decides; "+
			"add placement to --controllers, or leave the flag out"))
	}
	if !o.observe {
		errs = append(errs, o.controllers.Unused(enabled))
	}
	return errors.Join(errs...)
}
