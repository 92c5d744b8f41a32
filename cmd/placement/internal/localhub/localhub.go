// SPDX-License-Identifier: Apache-2.0

package localhub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubprocess"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/ownpages"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/tracing"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/system"
)

const (
	defaultKubeconfigFile = ".placement/kubeconfig"
	defaultSettleTimeout  = 3 * time.Minute
)

// Options are the flags of `placement run`.
type Options struct {
	kubeconfig      string
	dataDir         string
	KubeconfigFile  string // to be written
	noInstall       bool
	sample          string
	shown           systems.Sample // of that name
	samples         bool
	samplesAsked    bool // on the command line
	once            bool
	profiles        bool
	removal         system.Options // the defaults with the removal budget
	timeout         time.Duration
	dashboard       string // address of the pages; empty for none
	tracingFile     string
	tracing         *tracing.Config // nil: no traces
	ownsKubeconfigs bool            // the kubeconfig is in the data directory, which only one process uses
}

// NewRunOptions returns the options without values.
func NewRunOptions() *Options {
	return &Options{
		timeout: defaultSettleTimeout, dashboard: ownpages.DefaultListen, sample: system.Samples()[0].Name, removal: system.DefaultOptions(),
	}
}

// AddFlags adds the flags of `placement run`.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.kubeconfig, "kubeconfig", "", "Kubeconfig of an existing cluster to use instead of starting a control plane.")
	fs.StringVar(&o.dataDir, "data-dir", "", "Directory in which the objects stay for the next run. Default: a temporary one.")
	fs.StringVar(&o.KubeconfigFile, "write-kubeconfig", "",
		"Kubeconfig to write for the started control plane. Default: "+defaultKubeconfigFile+", or kubeconfig in --data-dir.")
	fs.BoolVar(&o.noInstall, "no-install", false, "With --kubeconfig: do not apply the CustomResourceDefinitions and RBAC.")
	fs.BoolVar(&o.samples, "samples", false, "Apply the sample objects. Default: true for a new control plane, false otherwise.")
	samples := system.Samples()
	shorts := make([]string, 0, len(samples))
	for _, sample := range samples {
		shorts = append(shorts, sample.Short)
	}
	fs.StringVar(&o.sample, "sample", o.sample,
		"Which sample objects: "+strings.Join(shorts, "; ")+".")
	fs.BoolVar(&o.once, "once", false,
		"Print the table when it no longer changes, and end. The exit code is 1 if that takes longer than --timeout.")
	hubprocess.AddProfileDecisionsFlag(fs, &o.profiles)
	hubprocess.AddTracingFlag(fs, &o.tracingFile)
	hubflags.AddRemovalFlags(fs, &o.removal, hubflags.RunRemovalPercent)
	fs.DurationVar(&o.timeout, "timeout", o.timeout, "With --once: the longest time to wait until the decisions no longer change.")
	fs.StringVar(&o.dashboard, hubprocess.DashboardListenFlag, o.dashboard,
		"Loopback address of pages that show where workloads go, and why, such as 127.0.0.1:8484; port 0 selects a free port, "+
			"and an empty address serves none.")
	hubprocess.AddLoggingFlags(fs)
}

// Complete fills in the options that depend on others, and rejects flags without effect.
func (o *Options) Complete(changed func(flag string) bool) error {
	var errs []error
	refuse := func(flag, because string) {
		if changed(flag) {
			errs = append(errs, fmt.Errorf("--%s has no effect %s; leave one of them out", flag, because))
		}
	}
	if o.kubeconfig != "" {
		refuse("data-dir", "with --kubeconfig, which names a cluster that keeps its data itself")
		refuse("write-kubeconfig", "with --kubeconfig: use that file")
	} else if o.noInstall {
		errs = append(errs, errors.New("--no-install needs --kubeconfig: a control plane that is just started has nothing installed"))
	}
	if o.once {
		refuse(hubprocess.DashboardListenFlag, "with --once, which stops the hub at once")
		refuse("write-kubeconfig", "with --once, which stops the control plane at once")
	} else if changed("timeout") {
		errs = append(errs, errors.New("--timeout needs --once: nothing else waits for placements to settle"))
	}
	if o.dashboard != "" {
		errs = append(errs, ownpages.CheckLoopback(hubprocess.DashboardListenFlag, o.dashboard))
	}
	sample, err := sampleNamed(o.sample)
	errs = append(errs, err)
	if sample.Alone != "" {
		refuse("kubeconfig", "with --sample="+sample.Name+", "+sample.Alone)
	}
	if sample.NoPlacements {
		refuse("sig-placement-decisions", "with --sample="+sample.Name+", which has no placements")
	}
	o.shown = sample
	if o.timeout <= 0 {
		errs = append(errs, fmt.Errorf("--timeout: %v must be above 0", o.timeout))
	}
	for _, path := range []struct{ flag, value string }{
		{"kubeconfig", o.kubeconfig}, {"data-dir", o.dataDir}, {"write-kubeconfig", o.KubeconfigFile},
	} {
		if changed(path.flag) && path.value == "" {
			errs = append(errs, fmt.Errorf("--%s is empty; name a path, or leave the flag out", path.flag))
		}
	}
	o.samplesAsked = changed("samples")
	o.tracing, err = tracing.Load(o.tracingFile)
	return errors.Join(append(errs, err, o.completePaths())...)
}

// sampleNamed returns the sample of a name.
func sampleNamed(name string) (systems.Sample, error) {
	samples := system.Samples()
	names := make([]string, 0, len(samples))
	for _, sample := range samples {
		if sample.Name == name {
			return sample, nil
		}
		names = append(names, sample.Name)
	}
	return systems.Sample{}, fmt.Errorf("--sample: %q is unknown; use one of %v", name, names)
}

func (o *Options) completePaths() error {
	if o.dataDir != "" {
		absolute, err := filepath.Abs(o.dataDir)
		if err != nil {
			return fmt.Errorf("--data-dir: %w", err)
		}
		o.dataDir = absolute
	}
	if o.KubeconfigFile == "" {
		o.KubeconfigFile = defaultKubeconfigFile
		if o.dataDir != "" {
			o.KubeconfigFile = filepath.Join(o.dataDir, "kubeconfig")
			o.ownsKubeconfigs = true
		}
	}
	absolute, err := filepath.Abs(o.KubeconfigFile)
	if err != nil {
		return fmt.Errorf("--write-kubeconfig: %w", err)
	}
	o.KubeconfigFile = absolute
	return nil
}

// Run starts the hub, shows it until ctx ends or, with --once, until it has settled, and stops it.
func (o *Options) Run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	// A closed output pipe is a failed write, and a closed terminal window stops the command: neither may leave a control plane behind.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()

	progress := &live.Progress{Out: stderr}
	open := o.startHub
	if o.kubeconfig != "" {
		open = o.connectHub
	}
	hub, err := open(ctx, progress)
	if err == nil {
		err = o.operate(ctx, hub, progress, stdout)
	}
	// An error after the user stopped the command is ignored, unless --once asked for a result.
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil
		if o.once {
			err = errors.New("stopped before the table settled")
		}
	}
	if hub != nil {
		err = errors.Join(err, hub.close(progress))
	}
	return err
}
