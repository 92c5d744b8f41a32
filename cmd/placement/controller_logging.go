package main

import (
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
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

// addLoggingFlags adds every klog flag, and component-base's --log-flush-frequency.
func addLoggingFlags(fs *pflag.FlagSet) {
	klogFlags.VisitAll(func(f *flag.Flag) {
		pf := pflag.PFlagFromGoFlag(f)
		pf.Hidden = !slices.Contains(documentedKlogFlags, f.Name)
		fs.AddFlag(pf)
	})
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
