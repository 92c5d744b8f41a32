package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/env"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
}

// run builds the missing binaries of the control plane, with kube-scheduler if arguments have -scheduler, or those of OCM with -ocm. It
// prints their directory to stdout.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("assets", flag.ContinueOnError)
	flags.SetOutput(stderr)
	consumers := flags.Bool("ocm", false, "find or build the programs of Open Cluster Management that tests run as consumers")
	scheduler := flags.Bool("scheduler", false, "find or build kube-scheduler too")
	if err := flags.Parse(arguments); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	if *consumers && *scheduler {
		return errors.New("-ocm and -scheduler exclude each other: OCM has no scheduler; run the command once with each")
	}
	var directory string
	var err error
	if *consumers {
		directory, err = findOCM(ctx, stderr)
	} else {
		directory, err = findControlPlane(ctx, stderr, *scheduler)
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, directory); err != nil {
		return fmt.Errorf("printing the directory: %w", err)
	}
	return nil
}

func findControlPlane(ctx context.Context, out io.Writer, scheduler bool) (directory string, err error) {
	if err := controlPlane(scheduler).ensure(ctx, out); err != nil {
		return "", err
	}
	assets, err := binaries.Find()
	if err != nil {
		return "", fmt.Errorf("looking for what was built: %w", err)
	}
	report(assets, out)
	return assets.Dir, nil
}

func findOCM(ctx context.Context, out io.Writer) (directory string, err error) {
	if err := ocm.ensure(ctx, out); err != nil {
		return "", err
	}
	assets, err := env.FindOCM()
	if err != nil {
		return "", fmt.Errorf("looking for what was built: %w", err)
	}
	fmt.Fprintf(out, "using %s (%s)\n", assets.Dir, assets.Source)
	return assets.Dir, nil
}

// report prints which directory was chosen and why.
func report(assets binaries.Assets, out io.Writer) {
	for _, skipped := range assets.Skipped {
		fmt.Fprintln(out, "skipped:", skipped)
	}
	fmt.Fprintf(out, "using %s (%s)\n", assets.Dir, assets.Source)
	for _, path := range []string{assets.ControllerManager, assets.Scheduler, assets.Kubectl} {
		if path != "" && filepath.Dir(path) != assets.Dir {
			fmt.Fprintf(out, "  with %s from %s\n", filepath.Base(path), filepath.Dir(path))
		}
	}
}
