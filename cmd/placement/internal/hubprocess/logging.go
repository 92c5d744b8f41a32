// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/logging"
)

// klogFlags is filled once: klog keeps its settings in the process, and so do the flags that set them.
var klogFlags = func() *flag.FlagSet {
	fs := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(fs)
	fs.Var(flushFrequency{}, "log-flush-frequency", "Time between two flushes of the log.")
	return fs
}()

// documentedKlogFlags are the ones that --help shows; the others are accepted because existing manifests pass them.
var documentedKlogFlags = []string{"v", "vmodule"}

// AddLoggingFlags adds every klog flag, and component-base's --log-flush-frequency.
func AddLoggingFlags(fs *pflag.FlagSet) {
	klogFlags.VisitAll(func(f *flag.Flag) {
		pf := pflag.PFlagFromGoFlag(f)
		pf.Hidden = !slices.Contains(documentedKlogFlags, f.Name)
		fs.AddFlag(pf)
	})
}

// AddLogFormatFlag adds the format of the log, for processes that log to stderr.
func AddLogFormatFlag(fs *pflag.FlagSet) {
	fs.Var(logging.NewFormat(os.Stderr), "log-format",
		"Format of the log on stderr: "+logging.Text+", or "+logging.JSON+", which writes one object for each line.")
}

// ChangedFlags returns the flags whose values differ from the defaults, as arguments, in the order of their names.
func ChangedFlags(fs *pflag.FlagSet) []string {
	changed := []string{}
	fs.VisitAll(func(f *pflag.Flag) {
		if value := f.Value.String(); value != f.DefValue {
			changed = append(changed, "--"+f.Name+"="+value)
		}
	})
	return changed
}

// flushFrequency restarts klog's flush daemon with the interval it is set to.
type flushFrequency struct{}

func (flushFrequency) String() string { return "5s" }

func (flushFrequency) Set(text string) error {
	interval, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%w; use a duration such as 5s", err)
	}
	klog.StopFlushDaemon()
	klog.StartFlushDaemon(interval)
	return nil
}
