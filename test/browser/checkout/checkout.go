// SPDX-License-Identifier: Apache-2.0

package checkout

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// module begins the go.mod of the repository. Those of its nested modules have longer paths.
const module = "module github.com/placement-hub/placement-hub\n"

// Root returns the directory of the checkout that contains the working directory.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("looking for the checkout: %w", err)
	}
	for directory := start; ; {
		content, err := os.ReadFile(filepath.Join(directory, "go.mod"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("looking for the checkout: %w", err)
		}
		if bytes.HasPrefix(content, []byte(module)) || bytes.Contains(content, []byte("\n"+module)) {
			return directory, nil
		}
		parent := filepath.Dir(directory)
		if parent == directory {
			return "", fmt.Errorf("looking for the checkout: %s is not inside one", start)
		}
		directory = parent
	}
}
