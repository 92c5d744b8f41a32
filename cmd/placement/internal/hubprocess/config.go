// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"errors"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const (
	operatorConfigKind       = "GenericOperatorConfig"
	operatorConfigAPIVersion = "operator.openshift.io/v1alpha1"
)

// OperatorConfig is the part of GenericOperatorConfig (operator.openshift.io/v1alpha1) that this command acts on. A field that is
// known to that kind but has no effect here is refused unless it is empty: a setting is never silently ignored.
type OperatorConfig struct {
	metav1.TypeMeta `json:",inline"`

	ServingInfo    servingInfo          `json:"servingInfo"`
	LeaderElection leaderElectionConfig `json:"leaderElection"`
	Authentication delegatedAuthConfig  `json:"authentication"`
	Authorization  delegatedAuthConfig  `json:"authorization"`
}

type servingInfo struct {
	BindAddress   string   `json:"bindAddress"`
	BindNetwork   string   `json:"bindNetwork"`
	CertFile      string   `json:"certFile"`
	KeyFile       string   `json:"keyFile"`
	MinTLSVersion string   `json:"minTLSVersion"`
	CipherSuites  []string `json:"cipherSuites"`

	ClientCA              string             `json:"clientCA"`
	NamedCertificates     []namedCertificate `json:"namedCertificates"`
	MaxRequestsInFlight   int64              `json:"maxRequestsInFlight"`
	RequestTimeoutSeconds int64              `json:"requestTimeoutSeconds"`
}

type namedCertificate struct {
	Names    []string `json:"names"`
	CertFile string   `json:"certFile"`
	KeyFile  string   `json:"keyFile"`
}

type leaderElectionConfig struct {
	Disable       bool            `json:"disable"`
	Namespace     string          `json:"namespace"`
	Name          string          `json:"name"`
	LeaseDuration metav1.Duration `json:"leaseDuration"`
	RenewDeadline metav1.Duration `json:"renewDeadline"`
	RetryPeriod   metav1.Duration `json:"retryPeriod"`
}

type delegatedAuthConfig struct {
	Disabled bool `json:"disabled"`
}

// loadOperatorConfig reads the file of --config.
func loadOperatorConfig(path string) (*OperatorConfig, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w; check the path and that the file is mounted", err)
	}
	config, err := parseOperatorConfig(data)
	if err != nil {
		return nil, fmt.Errorf("--config: file %s: %w", path, err)
	}
	return config, nil
}

func parseOperatorConfig(data []byte) (*OperatorConfig, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(data, &kind); err != nil {
		return nil, fmt.Errorf("not YAML or JSON: %w", err)
	}
	if kind.Kind != operatorConfigKind || kind.APIVersion != operatorConfigAPIVersion {
		return nil, fmt.Errorf("apiVersion %q and kind %q are not supported; use apiVersion %q and kind %q",
			kind.APIVersion, kind.Kind, operatorConfigAPIVersion, operatorConfigKind)
	}
	document, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, fmt.Errorf("not YAML or JSON: %w", err)
	}
	config := &OperatorConfig{}
	strictErrs, err := kjson.UnmarshalStrict(document, config)
	if err := errors.Join(append(strictErrs, err)...); err != nil {
		return nil, fmt.Errorf("%w; correct or remove that field", err)
	}
	if err := config.validate(); err != nil {
		return nil, err
	}
	return config, nil
}

func (c *OperatorConfig) validate() error {
	s := c.ServingInfo
	unsupported := func(set bool, field, instead string) error {
		if !set {
			return nil
		}
		return fmt.Errorf("%s is not supported; remove it%s", field, instead)
	}
	err := errors.Join(
		unsupported(s.ClientCA != "", "servingInfo.clientCA", ": callers authenticate with bearer tokens"),
		unsupported(len(s.NamedCertificates) > 0, "servingInfo.namedCertificates", " and name one pair in certFile and keyFile"),
		unsupported(s.MaxRequestsInFlight != 0, "servingInfo.maxRequestsInFlight", ""),
		unsupported(s.RequestTimeoutSeconds != 0, "servingInfo.requestTimeoutSeconds", ""),
	)
	if c.Authentication.Disabled != c.Authorization.Disabled {
		err = errors.Join(err, errors.New(
			"authentication.disabled and authorization.disabled differ; set both or neither: without a user there is nobody to authorize"))
	}
	return err
}
