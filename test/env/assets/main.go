package main

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

	"github.com/placement-hub/placement-hub/test/env"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
}

// run prints the directory of the control plane binaries to stdout, after building those that are missing.
func run(ctx context.Context, stdout, stderr io.Writer) error {
	assets, err := env.FindAssets()
	if err != nil && !errors.Is(err, env.ErrNoAssets) {
		return err
	}
	if missing := assets.Missing(); len(missing) > 0 {
		checkout, err := env.FindCheckout()
		if err != nil {
			return fmt.Errorf("%s must be built, but: %w; change into the checkout", strings.Join(missing, ", "), err)
		}
		if assets, err = build(ctx, checkout, stderr); err != nil {
			return err
		}
	}
	report(assets, stderr)
	if _, err := fmt.Fprintln(stdout, assets.Dir); err != nil {
		return fmt.Errorf("printing the directory: %w", err)
	}
	return nil
}

// report says which directory was picked and why.
func report(assets env.Assets, out io.Writer) {
	for _, skipped := range assets.Skipped {
		fmt.Fprintln(out, "skipped:", skipped)
	}
	fmt.Fprintf(out, "using %s (%s)\n", assets.Dir, assets.Source)
	for _, path := range []string{assets.ControllerManager, assets.Kubectl} {
		if filepath.Dir(path) != assets.Dir {
			fmt.Fprintf(out, "  with %s from %s\n", filepath.Base(path), filepath.Dir(path))
		}
	}
}
