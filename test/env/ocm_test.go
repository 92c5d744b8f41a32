package env

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

func writeFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func TestPinsOfThisCheckout(t *testing.T) {
	checkout, err := binaries.FindCheckout()
	if err != nil {
		t.Fatal(err)
	}
	got, err := checkout.Pins(OCM)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Version("ocm"), "v1.") {
		t.Errorf("got %v, want a release v1. of ocm", got)
	}
}

func TestFindOCM(t *testing.T) {
	pinned := binaries.Pins{{Name: "ocm", Version: "v1.2.0"}}
	cases := []struct {
		reason                string
		stamp                 binaries.Pins
		inVariable, inBuild   bool
		wantVariable, wantAny bool
		wantError             string
	}{
		{reason: "the variable comes first", stamp: pinned, inVariable: true, inBuild: true, wantVariable: true, wantAny: true},
		{reason: "the build follows", stamp: pinned, inBuild: true, wantAny: true},
		{
			reason: "a build of another version does not count", stamp: binaries.Pins{{Name: "ocm", Version: "v1.1.0"}}, inBuild: true,
			wantError: "holds other versions than the pinned ones",
		},
		{reason: "nothing is there", stamp: pinned, wantError: "make assets-ocm"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			checkout, variable := filepath.Join(root, "checkout"), filepath.Join(root, "assets")
			built := filepath.Join(checkout, "bin", "ocm")
			const module = "github.com/placement-hub/placement-hub"
			writeFile(t, filepath.Join(checkout, "go.mod"), "module "+module+"\n", 0o644)
			writeFile(t, filepath.Join(checkout, "test", "ocm", "go.mod"),
				"module "+module+"/test/ocm\nrequire open-cluster-management.io/ocm v1.2.0 // indirect\n", 0o644)
			writeFile(t, filepath.Join(built, binaries.StampFile), c.stamp.Stamp(), 0o644)
			// The search for the root must not stop at a nested module.
			t.Chdir(filepath.Join(checkout, "test", "ocm"))
			t.Setenv(OCMVariable, variable)
			if c.inVariable {
				writeFile(t, filepath.Join(variable, WorkBinary), "", 0o755)
			}
			if c.inBuild {
				writeFile(t, filepath.Join(built, WorkBinary), "", 0o755)
			}
			got, err := FindOCM()
			if !c.wantAny {
				if !errors.Is(err, ErrNoOCM) || !strings.Contains(err.Error(), c.wantError) {
					t.Fatalf("got %+v, %v, want ErrNoOCM with %q", got, err, c.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := OCMAssets{Work: filepath.Join(built, WorkBinary), Dir: built, Source: "built in this checkout"}
			if c.wantVariable {
				want = OCMAssets{Work: filepath.Join(variable, WorkBinary), Dir: variable, Source: "$" + OCMVariable}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
