// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/ptr"
)

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tracing.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"

// The file is the one of kube-apiserver, in every version that it reads.
func TestTheFileOfKubeAPIServerIsRead(t *testing.T) {
	for _, version := range versions {
		config, err := Load(write(t, "apiVersion: "+version+"\nkind: TracingConfiguration\nendpoint: otel:4317\nsamplingRatePerMillion: 100\n"))
		if err != nil || ptr.Deref(config.Endpoint, "") != "otel:4317" || ptr.Deref(config.SamplingRatePerMillion, 0) != 100 {
			t.Errorf("%s: got %+v, %v", version, config, err)
		}
	}
	if config, err := Load(write(t, head)); err != nil || config == nil || config.Endpoint != nil || config.SamplingRatePerMillion != nil {
		t.Errorf("without any field: got %+v, %v", config, err)
	}
	if config, err := Load(""); err != nil || config != nil {
		t.Errorf("without a file: got %+v, %v", config, err)
	}
}

func TestMistakesInTheFileAreNamed(t *testing.T) {
	for _, tc := range []struct {
		reason, content string
		want            []string
	}{
		{"no YAML", "{", []string{"not YAML or JSON"}},
		{"another kind", "apiVersion: v1\nkind: ConfigMap\n", []string{`"v1"`, `"ConfigMap"`, `"TracingConfiguration"`}},
		{"no kind", "endpoint: otel:4317\n", []string{`use apiVersion "apiserver.config.k8s.io/v1"`}},
		{"an unknown field", head + "endpiont: otel:4317\n", []string{`"endpiont"`, "correct or remove"}},
		{"a field of the wrong type", head + "samplingRatePerMillion: many\n", []string{"samplingRatePerMillion"}},
		{"a field twice", head + "endpoint: a:1\nendpoint: b:1\n", []string{"endpoint"}},
		{"a negative rate", head + "samplingRatePerMillion: -1\n", []string{"samplingRatePerMillion", "-1", "positive"}},
		{"more than all", head + "samplingRatePerMillion: 1000001\n", []string{"samplingRatePerMillion", "one million"}},
		{"a scheme that is none of gRPC", head + "endpoint: http://otel:4317\n", []string{"endpoint", "unsupported scheme"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			path := write(t, tc.content)
			_, err := Load(path)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range append(tc.want, "--tracing-config-file", path) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "check the path") {
		t.Errorf("a file that is not there: got %v", err)
	}
}
