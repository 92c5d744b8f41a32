// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/test/expect"
)

func parseDebugFlags(t *testing.T, args ...string) (*Options, *pflag.FlagSet) {
	t.Helper()
	o := NewDebugOptions()
	fs := pflag.NewFlagSet("debug", pflag.ContinueOnError)
	fs.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	o.AddDebugFlags(fs)
	expect.NoError(t, fs.Parse(args))
	return o, fs
}

// docs/spec/upstream-placement.md 1.17: the command line of the side container, and what else a manifest of the controller may say.
func TestDebugCommandLine(t *testing.T) {
	for _, tc := range []struct {
		reason      string
		args        []string
		address     string
		controllers []string
		want        []string
	}{
		{reason: "alone", address: "0.0.0.0:9443", controllers: []string{"placement"}},
		{
			reason: "upstream's", args: []string{"--listen=0.0.0.0:9443", "--disable-leader-election"}, address: "0.0.0.0:9443",
			controllers: []string{"placement"},
		},
		{
			reason: "what the controller was told", args: []string{
				"--listen=127.0.0.1:0", "--controllers=*", "--workers=3", "--leader-election-lease-duration=15s",
				"--leader-election-renew-deadline=10s",
				"--leader-election-retry-period=2s", "--webhook-listen=0.0.0.0:9443", "--sig-placement-decisions", "--namespace=hub",
				"--warn-removal-percent=10", "--taint-grace-period=5s",
			}, address: "127.0.0.1:0", controllers: []string{"placement", "placement-v1alpha1", "clusterset", "managedcluster-taints"},
		},
		{reason: "the older API alone", args: []string{"--controllers=placement-v1alpha1"}, address: "0.0.0.0:9443",
			controllers: []string{"placement-v1alpha1"}},
		{
			reason: "B20: a hub whose writes are assumed",
			args:   []string{"--controllers=placement,managedcluster-taints,vocabulary,clusters-inventory"}, address: "0.0.0.0:9443",
			controllers: []string{"placement", "managedcluster-taints", "clusters-inventory"},
		},
		{reason: "no placements at all", args: []string{"--controllers=clusterset,managedcluster-taints"},
			want: []string{"--controllers", "none of them serves placements", "placement or placement-v1alpha1"}},
		{reason: "an unknown controller", args: []string{"--controllers=nosuch"}, want: []string{`unknown controller "nosuch"`}},
		{reason: "an address without a port", args: []string{"--listen=localhost"}, want: []string{"--listen", "host:port"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o, fs := parseDebugFlags(t, tc.args...)
			err := o.CompleteDebug(fs.Changed, nowhere(t))
			expect.Error(t, err, tc.want)
			if err != nil {
				return
			}
			if o.Serving.Address != tc.address || !o.Election.Disable || !o.Observe || o.Controllers.ProfileDecisions {
				t.Errorf("%+v", o)
			}
			if diff := cmp.Diff(tc.controllers, o.Controllers.Controllers); diff != "" {
				t.Errorf("controllers (-want +got):\n%s", diff)
			}
		})
	}
}

// Every flag of the controller is taken, and those without effect are not advertised.
func TestDebugFlags(t *testing.T) {
	_, fs := parseDebugFlags(t)
	_, controllers := parseFlags(t)
	controllers.VisitAll(func(f *pflag.Flag) {
		found := fs.Lookup(f.Name)
		switch {
		case found == nil:
			t.Errorf("there is no --%s", f.Name)
		case found.Hidden != (f.Hidden || slices.Contains(ineffective, f.Name)):
			t.Errorf("--%s is hidden: %t", f.Name, found.Hidden)
		}
	})
	if share := fs.Lookup(hubflags.MaxRemovalFlag).DefValue; share != "" {
		t.Errorf("--%s claims that the hub holds removals above %q by default, which is not known", hubflags.MaxRemovalFlag, share)
	}
	if usage := fs.Lookup("listen").DefValue; usage != "0.0.0.0:9443" || !strings.Contains(fs.Lookup("controllers").Usage, "endpoint evaluates") {
		t.Errorf("--listen defaults to %s; --controllers: %s", usage, fs.Lookup("controllers").Usage)
	}
}
