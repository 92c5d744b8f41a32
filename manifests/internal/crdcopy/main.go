// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/placement-hub/placement-hub/manifests/internal/crdsource"
)

func main() {
	out := flag.String("out", ".", "directory of the manifests, below which the definitions are written")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "crdcopy:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	contents, err := crdsource.Read(ctx)
	if err != nil {
		return err
	}
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil { //nolint:gosec // Readable like its neighbours.
			return fmt.Errorf("write definition: %w", err)
		}
	}
	return nil
}
