// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"errors"
	"fmt"
	"os"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	tracingapi "k8s.io/component-base/tracing/api/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Flag is the name of the flag that names the file.
const Flag = "tracing-config-file"

const kind = "TracingConfiguration"

// versions of the API group are all that kube-apiserver reads; they have the same fields.
var versions = []string{"apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1", "apiserver.config.k8s.io/v1alpha1"}

// Config says where traces go, and how many.
type Config struct {
	metav1.TypeMeta                 `json:",inline"`
	tracingapi.TracingConfiguration `json:",inline"`
}

// Load reads the file of --tracing-config-file; nil for no file.
func Load(path string) (*Config, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w; check the path and that the file is mounted", Flag, err)
	}
	config, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("--%s: file %s: %w", Flag, path, err)
	}
	return config, nil
}

func parse(data []byte) (*Config, error) {
	document, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, fmt.Errorf("not YAML or JSON: %w", err)
	}
	var is metav1.TypeMeta
	if err := yaml.Unmarshal(data, &is); err != nil {
		return nil, fmt.Errorf("not YAML or JSON: %w", err)
	}
	if is.Kind != kind || !slices.Contains(versions, is.APIVersion) {
		return nil, fmt.Errorf("apiVersion %q and kind %q are not supported; use apiVersion %q and kind %q",
			is.APIVersion, is.Kind, versions[0], kind)
	}
	config := &Config{}
	mistakes, err := kjson.UnmarshalStrict(document, config)
	if err := errors.Join(append(mistakes, err)...); err != nil {
		return nil, fmt.Errorf("%w; correct or remove that field", err)
	}
	if err := tracingapi.ValidateTracingConfiguration(&config.TracingConfiguration, nil, nil).ToAggregate(); err != nil {
		return nil, err
	}
	return config, nil
}
