// SPDX-License-Identifier: Apache-2.0

package expect

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Update reports whether the tests run with -update: they write the files that they otherwise compare.
func Update() bool { return *update }

// Golden compares a text with a golden file, or writes the file.
func Golden(t *testing.T, path, got string) {
	t.Helper()
	if Update() {
		NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); if it is right, run go test -update:\n%s", path, diff)
	}
}
