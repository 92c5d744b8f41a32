// SPDX-License-Identifier: Apache-2.0

package surface

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/test/expect"
)

// howToUpdate is the command that writes all golden files anew.
const howToUpdate = "go test ./test/surface ./cmd/placement -run TestSurface -update"

// Golden compares lines, sorted and without repetitions, with the golden file name in the directory; with -update it writes the file.
func Golden(t *testing.T, directory, name string, lines []string) {
	t.Helper()
	got := slices.Compact(slices.Sorted(slices.Values(lines)))
	file := filepath.Join(directory, name)
	if expect.Update() {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}

	content, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	want := strings.FieldsFunc(string(content), func(r rune) bool { return r == '\n' })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what users can rely on has changed (-%s +program):\n%s\n"+
			"A name that is gone breaks its users. If the change is meant, say so in docs/ and run: %s", name, diff, howToUpdate)
	}
}
