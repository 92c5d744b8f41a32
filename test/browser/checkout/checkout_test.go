// SPDX-License-Identifier: Apache-2.0

package checkout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRootIsAboveTheNestedModule(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "cmd", "placement")); err != nil {
		t.Errorf("%s is not the checkout: %v", root, err)
	}
}

func TestRootSaysThatThereIsNone(t *testing.T) {
	directory := t.TempDir()
	t.Chdir(directory)
	if root, err := Root(); err == nil || !strings.Contains(err.Error(), "is not inside one") {
		t.Errorf("Root() = %q, %v", root, err)
	}
}
