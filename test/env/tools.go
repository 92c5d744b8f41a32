// SPDX-License-Identifier: Apache-2.0

package env

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// FindHelm returns the path of the binary of Helm 4 that the checkout has built, and what to do if it has not.
func FindHelm() (string, error) { return findTool("helm") }

// FindHelm3 returns the path of the binary of Helm 3 that the checkout has built, and what to do if it has not.
func FindHelm3() (string, error) { return findTool("helm3") }

// FindPromtool returns the path of the promtool binary that the checkout has built, and what to do if it has not.
func FindPromtool() (string, error) { return findTool("promtool") }

// findTool returns the path of a binary that the Makefile builds into bin/tools.
func findTool(name string) (string, error) {
	checkout, err := binaries.FindCheckout()
	if err != nil {
		return "", fmt.Errorf("looking for %s: %w", name, err)
	}
	path := filepath.Join(checkout.Root, "bin", "tools", name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no %s found: run `make bin/tools/%s` (it builds it from its Go module)", name, name)
	} else if err != nil {
		return "", fmt.Errorf("looking for %s: %w", name, err)
	}
	return path, nil
}
