// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"crypto/tls"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/placement-hub/placement-hub/test/expect"
)

// parseFlags runs the command line through the flags of `placement controller`, as the root command sets them up.
func parseFlags(t *testing.T, args ...string) (*Options, *pflag.FlagSet) {
	t.Helper()
	o := NewControllerOptions()
	fs := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	fs.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	o.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatalf("parsing %q: %v", args, err)
	}
	return o, fs
}

func nowhere(t *testing.T) Environment {
	t.Helper()
	dir := t.TempDir()
	return Environment{
		Getenv:         func(string) string { return "" },
		NamespaceFile:  filepath.Join(dir, "namespace"),
		ServingCertDir: filepath.Join(dir, "serving-cert"),
	}
}

func TestFlagDefaults(t *testing.T) {
	_, fs := parseFlags(t)
	for _, tc := range []struct{ flag, want, reason string }{
		{"config", "", "upstream: optional"},
		{"kubeconfig", "", "upstream: in-cluster"},
		{"namespace", "", "upstream: found out at start"},
		{"listen", "0.0.0.0:8443", "1.14: probes and scrapes come here"},
		{"webhook-listen", "0.0.0.0:9443", "ours: where the Service of deploy/base leads"},
		{"webhook-failure-policy", "Ignore", "docs/spec/pod-scheduling-policy.md 2.1.6"},
		{"federated-kinds", "[]", "docs/spec/federated-selector.md 3.1.4: seven kinds"},
		{"cluster-request-strategy", "Balanced", "docs/spec/cluster-request.md 4.1.3"},
		{"cluster-request-scope", "Cluster", "docs/spec/cluster-request.md 4.1.3"},
		{"clusters-inventory-set", "default", "docs/spec/cluster-request.md 4.6"},
		{"shared-clusters-namespace", "cluster-openmcp-shared", "docs/spec/cluster-request.md 4.1.3"},
		{"cluster-drain-timeout", "10m0s", "docs/spec/cluster-request.md 4.6"},
		{"terminate-on-files", "[]", "upstream: none"},
		{"kube-api-qps", "0", "ours: no client-side limit"},
		{"kube-api-burst", "0", "ours: no client-side limit"},
		{"disable-leader-election", "false", "docs/spec/upstream-placement.md 1.14"},
		{"leader-election-lease-duration", "2m17s", "1.14: 137 s"},
		{"leader-election-renew-deadline", "1m47s", "1.14: 107 s"},
		{"leader-election-retry-period", "26s", "1.14: 26 s"},
		{"tls-min-version", "", "component-base: TLS 1.2"},
		{"tls-cipher-suites", "[]", "Go's choice"},
		{"controllers", "[placement]", "S1: what upstream's command does and its account may"},
		{"workers", "0", "16 for each CPU, at most 128"},
		{"max-removal-percent", "100", "upstream: nothing is held"},
		{"max-removal-counts-replaced", "false", "a cluster that another one replaces is no loss"},
		{"warn-removal-percent", "50", "ours: more than half at once"},
		{"v", "0", "klog"},
		{"vmodule", "", "klog"},
		{"logtostderr", "true", "klog"},
		{"alsologtostderr", "false", "klog"},
		{"log-flush-frequency", "5s", "component-base"},
	} {
		t.Run(tc.flag, func(t *testing.T) {
			f := fs.Lookup(tc.flag)
			if f == nil {
				t.Fatalf("there is no flag --%s (%s)", tc.flag, tc.reason)
			}
			if f.DefValue != tc.want {
				t.Errorf("--%s defaults to %q, want %q (%s)", tc.flag, f.DefValue, tc.want, tc.reason)
			}
			if f.Usage == "" {
				t.Errorf("--%s has no help", tc.flag)
			}
		})
	}
}

func TestUpstreamCommandLine(t *testing.T) {
	o, _ := parseFlags(t,
		"--disable-leader-election=true", "--kube-api-qps=50", "--kube-api-burst=100", "--listen=127.0.0.1:0", "-v=0", "--log_dir=",
		"--terminate-on-files=/a,b", "--terminate-on-files=/c", "--log-flush-frequency=5s", "--tls-min-version=VersionTLS13")
	if !o.Election.Disable || o.QPS != 50 || o.Burst != 100 || o.Serving.Address != "127.0.0.1:0" || o.Serving.MinTLSVersion != "VersionTLS13" {
		t.Errorf("flags did not arrive: %+v", o)
	}
	if diff := cmp.Diff([]string{"/a,b", "/c"}, o.TerminateOnFiles); diff != "" {
		t.Errorf("--terminate-on-files takes one file at a time (-want +got):\n%s", diff)
	}
	if err := o.Validate(); err != nil {
		t.Errorf("validate() = %v", err)
	}
}

func TestSharesOfRemovals(t *testing.T) {
	o, fs := parseFlags(t, "--max-removal-percent=30%", "--warn-removal-percent=0")
	if held, warned := *o.Controllers.RemovalLimit.Percent, *o.Controllers.WarnRemovalPercent; held != 30 || warned != 0 {
		t.Errorf("got %d and %d, want 30 and 0", held, warned)
	}
	for _, text := range []string{"101", "-1", "a third", ""} {
		err := fs.Set("max-removal-percent", text)
		if err == nil || !strings.Contains(err.Error(), "is no whole number from 0 to 100") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestNamespace(t *testing.T) {
	config := "apiVersion: operator.openshift.io/v1alpha1\nkind: GenericOperatorConfig\nleaderElection: {namespace: from-file}\n"
	for _, tc := range []struct {
		reason, env, mounted, config string
		args                         []string
		want                         string
	}{
		{reason: "nothing is known: upstream's namespace", want: "open-cluster-management-hub"},
		{reason: "the service account's namespace", mounted: "pod\n", want: "pod"},
		{reason: "an empty mount says nothing", mounted: "\n", want: "open-cluster-management-hub"},
		{reason: "POD_NAMESPACE wins over the mount", env: "env", mounted: "pod", want: "env"},
		{reason: "the file wins over the surroundings", env: "env", config: config, want: "from-file"},
		{reason: "the flag wins over all", env: "env", config: config, args: []string{"--namespace=flag"}, want: "flag"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			env := nowhere(t)
			env.Getenv = func(name string) string { return map[string]string{"POD_NAMESPACE": tc.env}[name] }
			if tc.mounted != "" {
				expect.File(t, env.NamespaceFile, tc.mounted)
			}
			args := tc.args
			if tc.config != "" {
				args = append(args, "--config="+expect.File(t, filepath.Join(t.TempDir(), "config.yaml"), tc.config))
			}
			o, fs := parseFlags(t, args...)
			if err := o.Complete(fs.Changed, env); err != nil {
				t.Fatal(err)
			}
			if o.Election.Namespace != tc.want {
				t.Errorf("lease namespace = %q, want %q", o.Election.Namespace, tc.want)
			}
			if tc.config == "" && o.Controllers.Namespace != tc.want {
				t.Errorf("namespace of the controllers = %q, want %q", o.Controllers.Namespace, tc.want)
			}
			if o.Election.Name != "placement-lock" {
				t.Errorf("lease name = %q, want placement-lock (docs/spec/upstream-placement.md 1.14)", o.Election.Name)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		reason string
		args   []string
		want   []string
	}{
		{reason: "the defaults are valid"},
		{reason: "unknown controllers list the known ones", args: []string{"--controllers=placment"},
			want: []string{"--controllers", `"placment"`, "clusterset"}},
		{reason: "negative numbers", args: []string{"--workers=-1", "--kube-api-qps=-1", "--kube-api-burst=-2"},
			want: []string{"--workers: -1", "--kube-api-qps: -1", "--kube-api-burst: -2"}},
		{reason: "the lease must outlive the deadline", args: []string{"--leader-election-lease-duration=100s"},
			want: []string{"--leader-election-renew-deadline: 1m47s", "1m40s"}},
		{reason: "the deadline must leave room for a retry", args: []string{"--leader-election-retry-period=100s"},
			want: []string{"--leader-election-retry-period: 1m40s is too long"}},
		{reason: "a lease is stored in whole seconds", args: []string{"--leader-election-lease-duration=137500ms"},
			want: []string{"whole number of seconds"}},
		{reason: "a retry period of nothing", args: []string{"--leader-election-retry-period=0s"}, want: []string{"above 0"}},
		{reason: "no election, no rules about it", args: []string{"--disable-leader-election", "--leader-election-retry-period=100s"}},
		{reason: "an address needs a port", args: []string{"--listen=localhost"}, want: []string{"--listen", "host:port"}},
		{reason: "so does the webhook's", args: []string{"--webhook-listen=localhost"}, want: []string{"--webhook-listen", "host:port"}},
		{reason: "docs/spec/pod-scheduling-policy.md 2.1.6: a failure policy is Ignore or Fail", args: []string{"--webhook-failure-policy=fail"},
			want: []string{"--webhook-failure-policy", `"fail"`, "use Ignore or Fail"}},
		{reason: "kinds to deliver beyond the default ones",
			args: []string{"--controllers=federation/*", "--federated-kinds=batch/v1/CronJob,v1/PersistentVolumeClaim"}},
		{reason: "federated-selector 3.1.4: a kind that is never delivered",
			args: []string{"--controllers=federation/*", "--federated-kinds=v1/Event"},
			want: []string{`--federated-kinds: "v1/Event" is never delivered`}},
		{reason: "kinds to deliver without anything that delivers", args: []string{"--federated-kinds=batch/v1/CronJob"},
			want: []string{"--federated-kinds has no effect without the controllers of federation", "federation/*"}},
		{reason: "settings of cluster requests",
			args: []string{"--controllers=clusterrequest/*", "--cluster-request-strategy=Simple", "--cluster-request-scope=Namespaced"}},
		{reason: "cluster-request 4.1.3: strategies and scopes have names",
			args: []string{"--controllers=clusterrequest/*", "--cluster-request-strategy=Random", "--cluster-request-scope=cluster"},
			want: []string{
				`--cluster-request-strategy: "Random" is not a strategy; use Balanced or Simple`,
				`--cluster-request-scope: "cluster" is not a scope; use Cluster or Namespaced`,
			}},
		{reason: "settings of cluster requests without their controller",
			args: []string{"--cluster-request-strategy=Simple", "--cluster-request-scope=Namespaced"},
			want: []string{"--cluster-request-strategy, --cluster-request-scope: no effect without the controller clusterrequest/requests"}},
		{reason: "cluster-request 4.6: a drain takes time",
			args: []string{"--controllers=clusterrequest/*", "--cluster-drain-timeout=0s"},
			want: []string{"--cluster-drain-timeout: 0s must be above 0"}},
		{reason: "the timeout of a drain without the controller", args: []string{"--cluster-drain-timeout=1m"},
			want: []string{"--cluster-drain-timeout: no effect without the controller clusters-inventory"}},
		{reason: "TLS versions have names", args: []string{"--tls-min-version=1.2"}, want: []string{"--tls-min-version", `"1.2"`, "VersionTLS12"}},
		{reason: "cipher suites have names", args: []string{"--tls-cipher-suites=ROT13"},
			want: []string{"--tls-cipher-suites", "ROT13", "TLS_AES_128"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o, fs := parseFlags(t, tc.args...)
			if err := o.Complete(fs.Changed, nowhere(t)); err != nil {
				t.Fatal(err)
			}
			err := o.Validate()
			if (err != nil) != (len(tc.want) > 0) {
				t.Fatalf("validate() = %v, want an error: %v", err, len(tc.want) > 0)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not contain %q", err, part)
				}
			}
		})
	}
}

func TestClientLimit(t *testing.T) {
	kubeconfig := expect.File(t, filepath.Join(t.TempDir(), "kubeconfig"), expect.Kubeconfig("https://hub.example:6443"))
	for _, tc := range []struct {
		reason    string
		args      []string
		wantQPS   float32
		wantBurst int
	}{
		{reason: "no limit by default", wantQPS: -1},
		{reason: "a burst alone limits nothing", args: []string{"--kube-api-burst=100"}, wantQPS: -1},
		{reason: "upstream's numbers limit", args: []string{"--kube-api-qps=50", "--kube-api-burst=100"}, wantQPS: 50, wantBurst: 100},
		{reason: "a rate alone gets upstream's proportion", args: []string{"--kube-api-qps=50"}, wantQPS: 50, wantBurst: 100},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o, _ := parseFlags(t, append(tc.args, "--kubeconfig="+kubeconfig)...)
			config, err := o.RestConfig()
			if err != nil {
				t.Fatal(err)
			}
			if config.Host != "https://hub.example:6443" || config.QPS != tc.wantQPS || config.Burst != tc.wantBurst {
				t.Errorf("host %s, QPS %v, burst %v; want QPS %v, burst %v", config.Host, config.QPS, config.Burst, tc.wantQPS, tc.wantBurst)
			}
		})
	}
}

func TestWebhookIsServedAsConfigured(t *testing.T) {
	o, _ := parseFlags(t, "--controllers=managedcluster-defaults", "--webhook-listen=127.0.0.1:0", "--tls-min-version=VersionTLS13")
	expect.NoError(t, o.Complete(func(string) bool { return true }, nowhere(t)))
	expect.NoError(t, o.Listen(t.Context()))
	webhook := o.Controllers.Webhook
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	expect.NoError(t, server.Listener.Close())
	server.Listener, server.TLS = webhook.Listener, webhook.TLS
	server.Config.ErrorLog = log.New(t.Output(), "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	for _, tc := range []struct {
		version uint16
		want    bool
	}{{tls.VersionTLS12, false}, {tls.VersionTLS13, true}} {
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MaxVersion: tc.version}}
		connection, err := dialer.DialContext(t.Context(), "tcp", webhook.Listener.Addr().String())
		if (err == nil) != tc.want {
			t.Errorf("%s: %v, want it accepted: %t", tls.VersionName(tc.version), err, tc.want)
		}
		if err == nil {
			expect.NoError(t, connection.Close())
		}
	}
}
