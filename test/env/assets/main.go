// SPDX-License-Identifier: Apache-2.0

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
	"slices"
	"strings"
	"syscall"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
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

// run builds the missing binaries of the control plane, with kube-scheduler if arguments have -scheduler, with no more than needed if they have
// -programs, or one of OCM with -ocm, -agent or -upstream. It prints their directory to stdout.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("assets", flag.ContinueOnError)
	flags.SetOutput(stderr)
	consumer := flags.Bool("ocm", false, "find or build the work manager of Open Cluster Management, which tests run as a consumer of decisions")
	agent := flags.Bool("agent", false, "find or build the work agent of Open Cluster Management for members")
	upstream := flags.Bool("upstream", false, "find or build the placement controller of Open Cluster Management, which tests replace")
	scheduler := flags.Bool("scheduler", false, "find or build kube-scheduler too")
	programs := flags.String("programs", binaries.ControllerManager+" "+binaries.Kubectl,
		"find or build these `programs` besides etcd and kube-apiserver: any of "+strings.Join(optional, ", ")+", separated by spaces")
	kubernetes := flags.String("kubernetes", "", "build the programs of this minor `version` of Kubernetes, with kube-scheduler, that a module "+
		"below test/controlplane pins; binaries elsewhere do not count")
	download := flags.Bool("download", false, "with -programs: try to download etcd and kube-apiserver before they are built")
	if err := flags.Parse(arguments); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	exclusive := 0
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "download" {
			exclusive++
		}
	})
	if exclusive > 1 {
		return errors.New("-ocm, -agent, -upstream, -scheduler, -programs and -kubernetes exclude each other: run the command once with each")
	}
	named := strings.Fields(*programs)
	for _, name := range named {
		if !slices.Contains(optional, name) {
			return fmt.Errorf("-programs: unknown program %q: supported values: %s", name, strings.Join(optional, ", "))
		}
	}
	var directory string
	var err error
	switch {
	case *consumer:
		directory, err = findOCM(ctx, binaries.Work, stderr)
	case *agent:
		directory, err = findOCM(ctx, binaries.WorkAgent, stderr)
	case *upstream:
		directory, err = findOCM(ctx, binaries.UpstreamPlacement, stderr)
	case *kubernetes != "":
		directory, err = buildVersion(ctx, *kubernetes, stderr)
	case *scheduler:
		directory, err = findControlPlane(ctx, stderr, optional, false)
	default:
		directory, err = findControlPlane(ctx, stderr, named, *download)
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, directory); err != nil {
		return fmt.Errorf("printing the directory: %w", err)
	}
	return nil
}

func findControlPlane(ctx context.Context, out io.Writer, named []string, download bool) (directory string, err error) {
	find := binaries.Find
	if download { // `make run` is no test, and takes what is there.
		find = binaries.FindStored
	}
	programs := controlPlane(named, find)
	if download {
		if err := programs.download(ctx, out); err != nil {
			return "", err
		}
	}
	if err := programs.ensure(ctx, out); err != nil {
		return "", err
	}
	assets, err := find()
	if err != nil {
		return "", fmt.Errorf("looking for what was built: %w", err)
	}
	report(assets, out)
	return assets.Dir, nil
}

func findOCM(ctx context.Context, name string, out io.Writer) (directory string, err error) {
	if err := ocm(name).ensure(ctx, out); err != nil {
		return "", err
	}
	found, err := binaries.FindOCM(name)
	if err != nil {
		return "", fmt.Errorf("looking for what was built: %w", err)
	}
	fmt.Fprintf(out, "using %s (%s)\n", found.Dir, found.Source)
	return found.Dir, nil
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
