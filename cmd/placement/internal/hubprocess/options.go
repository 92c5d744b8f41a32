// SPDX-License-Identifier: Apache-2.0

package hubprocess

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

// Options are the options of `placement controller`. Flags take precedence over the file of --config, and that over the defaults;
// complete fills options that no flag has set from the configuration file and the environment. changed reports whether a flag was set on
// the command line.
type Options struct {
	configFile       string
	Kubeconfig       string
	namespace        string
	TerminateOnFiles []string
	QPS              float32
	Burst            int
	tracingFile      string
	tracing          *tracing.Config // nil: no traces
	pprof            string
	Flags            []string // those that differ from the defaults, for the log

	Serving     endpoint.Options
	reviews     *endpoint.ReviewBounds
	webhook     string // address that API servers ask at
	explain     ExplanationOptions
	dashboard   string // address of the pages; empty for none
	Election    election.Options
	Controllers system.Options
	// Observe serves evaluations of Placements, and runs no controller.
	Observe bool
}

// NewControllerOptions returns the options with their defaults.
func NewControllerOptions() *Options {
	controllers := system.DefaultOptions()
	controllers.Controllers = []string{"placement"}
	return &Options{
		Serving:     endpoint.Defaults(),
		reviews:     endpoint.NewReviewBounds(),
		Election:    election.Defaults(),
		webhook:     "0.0.0.0:9443",
		explain:     ExplanationOptions{Enabled: true},
		Controllers: controllers,
	}
}

// AddFlags adds the flags of `placement controller`.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.configFile, "config", o.configFile,
		"File of kind "+operatorConfigKind+" ("+operatorConfigAPIVersion+"). Flags on the command line override it.")
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"Kubeconfig of the hub. By default $KUBECONFIG, then the pod's service account, then ~/.kube/config.")
	fs.StringVar(&o.namespace, "namespace", o.namespace,
		"Namespace of the leader election lease, the ConfigMap "+managedcluster.VocabularyConfigMap+" and the Secret "+webhookserver.Secret+
			". By default $POD_NAMESPACE, then the pod's namespace, then "+hubflags.DefaultNamespace+".")
	fs.StringArrayVar(&o.TerminateOnFiles, "terminate-on-files", o.TerminateOnFiles,
		"End with code 0 when one of these files is created, changed or removed.")
	fs.Float32Var(&o.QPS, "kube-api-qps", o.QPS,
		"Maximal number of requests per second to the API server; 0 is no limit, so that the API server alone limits requests.")
	fs.IntVar(&o.Burst, "kube-api-burst", o.Burst,
		"Maximal number of requests at once above --kube-api-qps; 0 is twice --kube-api-qps. No effect if --kube-api-qps is 0.")

	fs.StringSliceVar(&o.Controllers.Controllers, "controllers", o.Controllers.Controllers,
		"Controllers to run: '*' is all without a system, 'system/*' is all of a system, 'name' adds one, '-name' removes one. "+
			"Names: "+strings.Join(system.Names(), ", ")+".")
	fs.IntVar(&o.Controllers.Workers, "workers", o.Controllers.Workers,
		"Number of Placements to reconcile at the same time; 0 is 16 for each CPU, at most 128, because workers mostly wait for the API server.")

	AddProfileDecisionsFlag(fs, &o.Controllers.ProfileDecisions)
	hubflags.AddRemovalFlags(fs, &o.Controllers, removalbudget.NoLimit)
	o.Controllers.AddFlags(fs)

	AddTracingFlag(fs, &o.tracingFile)

	fs.BoolVar(&o.Election.Disable, "disable-leader-election", o.Election.Disable,
		"Run without a lease. Then only one process may run against the hub.")
	fs.DurationVar(&o.Election.LeaseDuration, "leader-election-lease-duration", o.Election.LeaseDuration,
		"Time after the last renewal of the lease after which a standby takes the lease over.")
	fs.DurationVar(&o.Election.RenewDeadline, "leader-election-renew-deadline", o.Election.RenewDeadline,
		"Time for which the leader tries to renew the lease before the process ends.")
	fs.DurationVar(&o.Election.RetryPeriod, "leader-election-retry-period", o.Election.RetryPeriod,
		"Time between two renewals of the lease. Standbys check every second, so they take a released lease over earlier.")

	fs.StringVar(&o.Serving.Address, "listen", o.Serving.Address,
		"Address of the HTTPS endpoint for /metrics, /debug/placements/, /healthz, /livez, /readyz and /readyz/evaluation; "+
			"port 0 selects a free port.")
	fs.StringVar(&o.webhook, "webhook-listen", o.webhook,
		"HTTPS address of the webhooks of the controllers "+strings.Join(system.WebhookNames(), ", ")+"; port 0 selects a free port. "+
			"The certificate has the host names in the webhook configurations.")
	o.explain.addFlags(fs)
	o.addDashboardFlag(fs)
	fs.StringVar(&o.Serving.MinTLSVersion, "tls-min-version", o.Serving.MinTLSVersion,
		"Minimum TLS version of the endpoints; by default VersionTLS12. One of "+strings.Join(cliflag.TLSPossibleVersions(), ", ")+".")
	fs.StringSliceVar(&o.Serving.CipherSuites, "tls-cipher-suites", o.Serving.CipherSuites,
		"Cipher suites served up to TLS 1.2; by default Go's choice. Preferred: "+strings.Join(cliflag.PreferredTLSCipherNames(), ", ")+".")
	fs.StringVar(&o.pprof, pprofFlag, o.pprof,
		"Loopback address, such as 127.0.0.1:6060, that serves the profiles of net/http/pprof without authentication. By default none are served.")
	AddLoggingFlags(fs)
	AddLogFormatFlag(fs)
}

// AddProfileDecisionsFlag adds the flag that turns on the PlacementDecisions of SIG Multicluster.
func AddProfileDecisionsFlag(fs *pflag.FlagSet, value *bool) {
	fs.BoolVar(value, "sig-placement-decisions", *value,
		"Also write the decisions of "+clusterv1beta1.GroupName+"/v1beta1 Placements as PlacementDecisions of multicluster.x-k8s.io, "+
			"which refer to ClusterProfiles.")
}

// AddTracingFlag adds the flag that names the configuration of traces.
func AddTracingFlag(fs *pflag.FlagSet, file *string) {
	fs.StringVar(file, tracing.Flag, *file,
		"File of kind TracingConfiguration (apiserver.config.k8s.io/v1), as for kube-apiserver: the collector of the traces, and the number of "+
			"evaluations to trace in a million. By default the hub sends no traces.")
}

// Environment are the parts of the process environment that complete reads.
type Environment struct {
	Getenv         func(string) string
	NamespaceFile  string
	ServingCertDir string
}

// ProcessEnvironment returns the environment of this process, as in a Pod.
func ProcessEnvironment() Environment {
	return Environment{Getenv: os.Getenv, NamespaceFile: serviceAccountNamespaceFile, ServingCertDir: defaultServingCertDir}
}

// Complete merges the configuration file and the surroundings into what the flags left at their defaults. changed answers
// whether a flag was set on the command line.
func (o *Options) Complete(changed func(flag string) bool, env Environment) error {
	if o.configFile != "" {
		config, err := loadOperatorConfig(o.configFile)
		if err != nil {
			return err
		}
		o.applyConfig(config, changed)
		o.TerminateOnFiles = append(o.TerminateOnFiles, o.configFile)
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
	if o.Controllers.Namespace == "" {
		o.Controllers.Namespace = o.namespace
	}
	if o.Election.Namespace == "" || changed("namespace") {
		o.Election.Namespace = o.namespace
	}
	o.TerminateOnFiles = append(o.TerminateOnFiles, o.Serving.UseMountedCertificate(env.ServingCertDir)...)
	return nil
}

func (o *Options) applyConfig(c *OperatorConfig, changed func(flag string) bool) {
	s, e := c.ServingInfo, c.LeaderElection
	override(&o.Serving.Address, s.BindAddress, changed("listen"))
	override(&o.Serving.Network, s.BindNetwork, false)
	override(&o.Serving.CertFile, s.CertFile, false)
	override(&o.Serving.KeyFile, s.KeyFile, false)
	override(&o.Serving.MinTLSVersion, s.MinTLSVersion, changed("tls-min-version"))
	if len(s.CipherSuites) > 0 && !changed("tls-cipher-suites") {
		o.Serving.CipherSuites = s.CipherSuites
	}
	o.Serving.Open = c.Authentication.Disabled && c.Authorization.Disabled

	override(&o.Election.Disable, e.Disable, changed("disable-leader-election"))
	override(&o.Election.Namespace, e.Namespace, false)
	override(&o.Election.Name, e.Name, false)
	override(&o.Election.LeaseDuration, e.LeaseDuration.Duration, changed("leader-election-lease-duration"))
	override(&o.Election.RenewDeadline, e.RenewDeadline.Duration, changed("leader-election-renew-deadline"))
	override(&o.Election.RetryPeriod, e.RetryPeriod.Duration, changed("leader-election-retry-period"))
}

// override sets *to unless the value is empty or a flag already decided.
func override[T comparable](to *T, value T, flagDecided bool) {
	var empty T
	if value != empty && !flagDecided {
		*to = value
	}
}

func findNamespace(env Environment) (string, error) {
	if namespace := env.Getenv("POD_NAMESPACE"); namespace != "" {
		return namespace, nil
	}
	data, err := os.ReadFile(env.NamespaceFile)
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

// Validate reports everything that is wrong at once.
func (o *Options) Validate() error {
	var errs []error
	if o.QPS < 0 {
		errs = append(errs, fmt.Errorf("--kube-api-qps: %v is negative; use 0 for no limit", o.QPS))
	}
	if o.Burst < 0 {
		errs = append(errs, fmt.Errorf("--kube-api-burst: %d is negative; use 0 for twice --kube-api-qps", o.Burst))
	}
	if o.Controllers.Workers < 0 {
		errs = append(errs, fmt.Errorf("--workers: %d is negative; use 0 for 16 for each CPU, at most 128", o.Controllers.Workers))
	}
	if enabled, err := o.Controllers.Enabled(); err != nil {
		errs = append(errs, fmt.Errorf("--controllers: %w", err))
	} else {
		errs = append(errs, o.validateDependents(enabled))
	}
	errs = append(errs, o.Controllers.Validate())
	if _, _, err := net.SplitHostPort(o.webhook); err != nil {
		errs = append(errs, fmt.Errorf("--webhook-listen: %w; use host:port, for example 0.0.0.0:9443", err))
	}
	return errors.Join(append(errs, o.explain.Validate(), validatePprof(o.pprof), o.Election.Validate(), o.Serving.Validate())...)
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
func (o *Options) validateDependents(enabled []string) error {
	var errs []error
	if o.Controllers.ProfileDecisions && !slices.Contains(enabled, "placement") {
		errs = append(errs, errors.New("--sig-placement-decisions repeats what the controller placement decides; "+
			"add placement to --controllers, or leave the flag out"))
	}
	if !o.Observe {
		errs = append(errs, o.Controllers.Unused(enabled))
	}
	return errors.Join(errs...)
}
