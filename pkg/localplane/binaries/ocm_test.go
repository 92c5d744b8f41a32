// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPinsOfOCM(t *testing.T) {
	checkout, err := FindCheckout()
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
	pinned := Pins{{Name: "ocm", Version: "v1.2.0"}}
	cases := []struct {
		reason                string
		name                  string
		stamp                 Pins
		inVariable, inBuild   string // the binary in each place
		wantVariable, wantAny bool
		wantError             string
	}{
		{reason: "the variable comes first", name: Work, stamp: pinned, inVariable: Work, inBuild: Work, wantVariable: true, wantAny: true},
		{reason: "the build follows", name: Work, stamp: pinned, inBuild: Work, wantAny: true},
		{reason: "a place counts if it has the binary", name: WorkAgent, stamp: pinned, inVariable: Work, inBuild: WorkAgent, wantAny: true},
		{
			reason: "a build of another version does not count", name: Work,
			stamp: Pins{{Name: "ocm", Version: "v1.1.0"}}, inBuild: Work,
			wantError: "holds other versions than the pinned ones",
		},
		{reason: "nothing is there", name: Work, stamp: pinned, wantError: "make assets-ocm"},
		{reason: "no work agent is there", name: WorkAgent, stamp: pinned, inBuild: Work, wantError: "make assets-agent"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			p := setPlaces(t)
			built := filepath.Join(p.checkout, "bin", "ocm")
			writeFile(t, filepath.Join(p.checkout, "test", "ocm", "go.mod"),
				"module "+modulePath+"/test/ocm\nrequire open-cluster-management.io/ocm v1.2.0\n", 0o644)
			writeFile(t, filepath.Join(built, StampFile), c.stamp.Stamp(), 0o644)
			t.Setenv(OCMVariable, p.variable)
			if c.inVariable != "" {
				writeBinary(t, p.variable, c.inVariable)
			}
			if c.inBuild != "" {
				writeBinary(t, built, c.inBuild)
			}
			got, err := FindOCM(c.name)
			if !c.wantAny {
				if !errors.Is(err, ErrNoOCM) || !strings.Contains(err.Error(), c.wantError) {
					t.Fatalf("got %+v, %v, want ErrNoOCM with %q", got, err, c.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := OCMBinary{Path: filepath.Join(built, c.name), Dir: built, Source: "built in this checkout"}
			if c.wantVariable {
				want = OCMBinary{Path: filepath.Join(p.variable, c.name), Dir: p.variable, Source: "$" + OCMVariable}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
