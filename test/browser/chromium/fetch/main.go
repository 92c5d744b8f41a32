// SPDX-License-Identifier: Apache-2.0

// Command fetch finds a browser for tests, fetches one if there is none, and prints its path.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/placement-hub/placement-hub/test/browser/checkout"
	"github.com/placement-hub/placement-hub/test/browser/chromium"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := checkout.Root()
	if err != nil {
		return err
	}
	found, err := chromium.Ensure(ctx, root, os.Stderr)
	if errors.Is(err, chromium.ErrLeftOut) {
		fmt.Fprintln(os.Stderr, err)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "using %s (%s)\n", found.Version, found.Source)
	if _, err := fmt.Fprintln(os.Stdout, found.Path); err != nil {
		return fmt.Errorf("printing the path: %w", err)
	}
	return nil
}
