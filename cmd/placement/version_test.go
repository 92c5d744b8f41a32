// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/build"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
)

func TestPrintVersion(t *testing.T) {
	v := build.Info{Version: "v1", Commit: "abc", GoVersion: "go1", Platform: "linux/amd64", Modules: map[string]string{"k8s.io/api": "v0.37.2"}}
	for format, decode := range map[string]func([]byte, *build.Info) error{
		"json": func(data []byte, into *build.Info) error { return json.Unmarshal(data, into) },
		"yaml": func(data []byte, into *build.Info) error { return yaml.UnmarshalStrict(data, into) },
	} {
		var out bytes.Buffer
		if err := printVersion(&out, format, v); err != nil {
			t.Fatal(err)
		}
		var got build.Info
		if err := decode(out.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v in %s", format, err, out.Bytes())
		}
		if diff := cmp.Diff(v, got); diff != "" {
			t.Errorf("%s does not round-trip (-want +got):\n%s", format, diff)
		}
	}
	var out bytes.Buffer
	if err := printVersion(&out, "text", v); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"placement v1\n", "abc", "go1 linux/amd64", "k8s.io/api v0.37.2\n"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("text %q does not contain %q", out.String(), part)
		}
	}
	var usage *exit.UsageError
	if err := printVersion(&out, "xml", v); !errors.As(err, &usage) || !strings.Contains(err.Error(), `"xml"`) {
		t.Errorf("an unknown format gave %v, want a usage error that names it", err)
	}
}
