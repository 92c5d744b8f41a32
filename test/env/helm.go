package env

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// FindHelm returns the path of the helm binary that the checkout has built, and what to do if it has not.
func FindHelm() (string, error) {
	checkout, err := binaries.FindCheckout()
	if err != nil {
		return "", fmt.Errorf("looking for helm: %w", err)
	}
	path := filepath.Join(checkout.Root, "bin", "tools", "helm")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("no helm found: run `make bin/tools/helm` (it builds it from its Go module)")
	} else if err != nil {
		return "", fmt.Errorf("looking for helm: %w", err)
	}
	return path, nil
}
