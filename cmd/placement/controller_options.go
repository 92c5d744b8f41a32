package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/leaderelection"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/placement-hub/placement-hub/pkg/controller"
)

const (
	defaultNamespace = "open-cluster-management-hub"
	defaultLeaseName = "placement-lock"

	serviceAccountNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	// A Service's serving certificate is mounted here on OpenShift; used when neither a file nor a flag names another.
	defaultServingCertDir = "/var/run/secrets/serving-cert"
)

// controllerOptions is everything that `placement controller` can be told. Flags win over the file of --config, and that over
// the defaults; complete does the merging and validate has the last word.
type controllerOptions struct {
	configFile       string
	kubeconfig       string
	namespace        string
	terminateOnFiles []string
	qps              float32
	burst            int

	serving     servingOptions
	election    electionOptions
	controllers controller.Options
}

func newControllerOptions() *controllerOptions {
	return &controllerOptions{
		serving: servingOptions{address: "0.0.0.0:8443", network: "tcp"},
		election: electionOptions{
			name:          defaultLeaseName,
			leaseDuration: 137 * time.Second,
			renewDeadline: 107 * time.Second,
			retryPeriod:   26 * time.Second,
		},
		controllers: controller.Options{Controllers: []string{"placement"}},
	}
}

func (o *controllerOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.configFile, "config", o.configFile,
		"File of kind "+operatorConfigKind+" ("+operatorConfigAPIVersion+"). A flag on the command line wins over it.")
	fs.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig,
		"Kubeconfig of the hub. By default $KUBECONFIG, then the pod's service account, then ~/.kube/config.")
	fs.StringVar(&o.namespace, "namespace", o.namespace,
		"Namespace of the leader election lease. By default $POD_NAMESPACE, then the pod's namespace, then "+defaultNamespace+".")
	fs.StringArrayVar(&o.terminateOnFiles, "terminate-on-files", o.terminateOnFiles,
		"End with code 0 when one of these files is created, changed or removed.")
	fs.Float32Var(&o.qps, "kube-api-qps", o.qps,
		"Requests per second to the API server that the client allows itself; 0 is no limit, which leaves fairness to the server.")
	fs.IntVar(&o.burst, "kube-api-burst", o.burst,
		"Requests above --kube-api-qps allowed at once; 0 is twice --kube-api-qps. Without effect while that is 0.")

	fs.StringSliceVar(&o.controllers.Controllers, "controllers", o.controllers.Controllers,
		"Controllers to run: '*' all, 'name' that one, '-name' not that one. Known: "+strings.Join(controller.Names(), ", ")+".")
	fs.IntVar(&o.controllers.Workers, "workers", o.controllers.Workers,
		"Placements evaluated at the same time; 0 is the number of CPUs.")

	fs.BoolVar(&o.election.disable, "disable-leader-election", o.election.disable,
		"Run without a lease. Only one process may then run against the hub.")
	fs.DurationVar(&o.election.leaseDuration, "leader-election-lease-duration", o.election.leaseDuration,
		"How long a standby waits, after the last renewal it saw, before it takes the lease of a leader that died.")
	fs.DurationVar(&o.election.renewDeadline, "leader-election-renew-deadline", o.election.renewDeadline,
		"How long the leader tries to renew the lease before it gives up and ends.")
	fs.DurationVar(&o.election.retryPeriod, "leader-election-retry-period", o.election.retryPeriod,
		"Time between two renewals of the lease. Standbys look every second, so a released lease does not wait for this.")

	fs.StringVar(&o.serving.address, "listen", o.serving.address,
		"Address of the HTTPS endpoint for /metrics, /healthz, /livez and /readyz; port 0 picks a free one.")
	fs.StringVar(&o.serving.minTLSVersion, "tls-min-version", o.serving.minTLSVersion,
		"Minimum TLS version served; by default VersionTLS12. One of "+strings.Join(cliflag.TLSPossibleVersions(), ", ")+".")
	fs.StringSliceVar(&o.serving.cipherSuites, "tls-cipher-suites", o.serving.cipherSuites,
		"Cipher suites served up to TLS 1.2; by default Go's choice. Preferred: "+strings.Join(cliflag.PreferredTLSCipherNames(), ", ")+".")
	addLoggingFlags(fs)
}

// surroundings are the parts of the process environment that complete reads.
type surroundings struct {
	getenv         func(string) string
	namespaceFile  string
	servingCertDir string
}

func processSurroundings() surroundings {
	return surroundings{getenv: os.Getenv, namespaceFile: serviceAccountNamespaceFile, servingCertDir: defaultServingCertDir}
}

// complete merges the configuration file and the surroundings into what the flags left at their defaults. changed answers
// whether a flag was set on the command line.
func (o *controllerOptions) complete(changed func(flag string) bool, around surroundings) error {
	if o.configFile != "" {
		config, err := loadOperatorConfig(o.configFile)
		if err != nil {
			return err
		}
		o.applyConfig(config, changed)
		o.terminateOnFiles = append(o.terminateOnFiles, o.configFile)
	}
	if o.namespace == "" {
		namespace, err := findNamespace(around)
		if err != nil {
			return err
		}
		o.namespace = namespace
	}
	if o.election.namespace == "" || changed("namespace") {
		o.election.namespace = o.namespace
	}
	o.terminateOnFiles = append(o.terminateOnFiles, o.serving.useMountedCertificate(around.servingCertDir)...)
	return nil
}

func (o *controllerOptions) applyConfig(c *operatorConfig, changed func(flag string) bool) {
	s, e := c.ServingInfo, c.LeaderElection
	override(&o.serving.address, s.BindAddress, changed("listen"))
	override(&o.serving.network, s.BindNetwork, false)
	override(&o.serving.certFile, s.CertFile, false)
	override(&o.serving.keyFile, s.KeyFile, false)
	override(&o.serving.minTLSVersion, s.MinTLSVersion, changed("tls-min-version"))
	if len(s.CipherSuites) > 0 && !changed("tls-cipher-suites") {
		o.serving.cipherSuites = s.CipherSuites
	}
	o.serving.open = c.Authentication.Disabled && c.Authorization.Disabled

	override(&o.election.disable, e.Disable, changed("disable-leader-election"))
	override(&o.election.namespace, e.Namespace, false)
	override(&o.election.name, e.Name, false)
	override(&o.election.leaseDuration, e.LeaseDuration.Duration, changed("leader-election-lease-duration"))
	override(&o.election.renewDeadline, e.RenewDeadline.Duration, changed("leader-election-renew-deadline"))
	override(&o.election.retryPeriod, e.RetryPeriod.Duration, changed("leader-election-retry-period"))
}

// override sets *to unless the value is empty or a flag already decided.
func override[T comparable](to *T, value T, flagDecided bool) {
	var empty T
	if value != empty && !flagDecided {
		*to = value
	}
}

func findNamespace(around surroundings) (string, error) {
	if namespace := around.getenv("POD_NAMESPACE"); namespace != "" {
		return namespace, nil
	}
	data, err := os.ReadFile(around.namespaceFile)
	if errors.Is(err, os.ErrNotExist) {
		return defaultNamespace, nil
	}
	if err != nil {
		return "", fmt.Errorf("finding the namespace of this pod: %w; name it with --namespace", err)
	}
	if namespace := strings.TrimSpace(string(data)); namespace != "" {
		return namespace, nil
	}
	return defaultNamespace, nil
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
		errs = append(errs, fmt.Errorf("--workers: %d is negative; use 0 for the number of CPUs", o.controllers.Workers))
	}
	if _, err := o.controllers.Enabled(); err != nil {
		errs = append(errs, fmt.Errorf("--controllers: %w", err))
	}
	return errors.Join(append(errs, o.election.validate(), o.serving.validate())...)
}

// electionOptions say how processes agree on the one that runs the controllers.
type electionOptions struct {
	disable                                   bool
	namespace, name                           string
	leaseDuration, renewDeadline, retryPeriod time.Duration
}

func (o *electionOptions) validate() error {
	if o.disable {
		return nil
	}
	var errs []error
	if o.leaseDuration < time.Second || o.leaseDuration%time.Second != 0 {
		errs = append(errs, fmt.Errorf("--leader-election-lease-duration: %v is not a whole number of seconds above 0", o.leaseDuration))
	}
	if o.leaseDuration <= o.renewDeadline {
		errs = append(errs, fmt.Errorf("--leader-election-renew-deadline: %v must be shorter than --leader-election-lease-duration (%v)",
			o.renewDeadline, o.leaseDuration))
	}
	if o.retryPeriod <= 0 {
		errs = append(errs, fmt.Errorf("--leader-election-retry-period: %v must be above 0", o.retryPeriod))
	}
	if float64(o.renewDeadline) <= leaderelection.JitterFactor*float64(o.retryPeriod) {
		errs = append(errs, fmt.Errorf("--leader-election-retry-period: %v is too long; %v times it must be shorter than "+
			"--leader-election-renew-deadline (%v)", o.retryPeriod, leaderelection.JitterFactor, o.renewDeadline))
	}
	return errors.Join(errs...)
}
