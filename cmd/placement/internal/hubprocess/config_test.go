// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/endpoint"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/test/expect"
)

const configHeader = "apiVersion: operator.openshift.io/v1alpha1\nkind: GenericOperatorConfig\n"

const fullConfig = configHeader + `
servingInfo:
  bindAddress: 127.0.0.1:9443
  bindNetwork: tcp4
  certFile: /certs/tls.crt
  keyFile: /certs/tls.key
  minTLSVersion: VersionTLS13
  cipherSuites: [TLS_AES_128_GCM_SHA256]
  clientCA: ""
  namedCertificates: null
  maxRequestsInFlight: 0
  requestTimeoutSeconds: 0
leaderElection:
  disable: true
  namespace: elsewhere
  name: my-lock
  leaseDuration: 60s
  renewDeadline: 40s
  retryPeriod: 10s
authentication: {disabled: true}
authorization: {disabled: true}
`

func TestConfigPrecedence(t *testing.T) {
	path := expect.File(t, filepath.Join(t.TempDir(), "config.yaml"), fullConfig)
	fromFile := func() *Options {
		o := NewControllerOptions()
		o.Serving = endpoint.Options{
			Address: "127.0.0.1:9443", Network: "tcp4", CertFile: "/certs/tls.crt", KeyFile: "/certs/tls.key",
			MinTLSVersion: "VersionTLS13", CipherSuites: []string{"TLS_AES_128_GCM_SHA256"}, Open: true,
		}
		o.Election = election.Options{
			Disable: true, Namespace: "elsewhere", Name: "my-lock",
			LeaseDuration: 60 * time.Second, RenewDeadline: 40 * time.Second, RetryPeriod: 10 * time.Second,
		}
		return o
	}
	for _, tc := range []struct {
		reason string
		args   []string
		want   func(*Options)
	}{
		{reason: "the file wins over every default", want: func(*Options) {}},
		{reason: "--listen wins", args: []string{"--listen=:1"}, want: func(o *Options) { o.Serving.Address = ":1" }},
		{
			reason: "a flag wins even when it says the default", args: []string{"--listen=0.0.0.0:8443"},
			want: func(o *Options) { o.Serving.Address = "0.0.0.0:8443" },
		},
		{
			reason: "--disable-leader-election=false wins", args: []string{"--disable-leader-election=false"},
			want: func(o *Options) { o.Election.Disable = false },
		},
		{reason: "--namespace wins", args: []string{"--namespace=n"}, want: func(o *Options) { o.Election.Namespace = "n" }},
		{
			reason: "the durations win one by one", args: []string{"--leader-election-retry-period=11s"},
			want: func(o *Options) { o.Election.RetryPeriod = 11 * time.Second },
		},
		{
			reason: "the TLS flags win", args: []string{"--tls-min-version=VersionTLS12", "--tls-cipher-suites=TLS_AES_256_GCM_SHA384"},
			want: func(o *Options) {
				o.Serving.MinTLSVersion, o.Serving.CipherSuites = "VersionTLS12", []string{"TLS_AES_256_GCM_SHA384"}
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, fs := parseFlags(t, append(tc.args, "--config="+path)...)
			if err := got.Complete(fs.Changed, nowhere(t)); err != nil {
				t.Fatal(err)
			}
			want := fromFile()
			tc.want(want)
			if diff := cmp.Diff(want.Serving, got.Serving); diff != "" {
				t.Errorf("serving (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Election, got.Election); diff != "" {
				t.Errorf("leader election (-want +got):\n%s", diff)
			}
			if !slices.Contains(got.TerminateOnFiles, path) {
				t.Errorf("a change of the configuration must end the process, but only these are watched: %q", got.TerminateOnFiles)
			}
		})
	}
}

func TestConfigLeavesDefaults(t *testing.T) {
	path := expect.File(t, filepath.Join(t.TempDir(), "config.yaml"), configHeader)
	got, fs := parseFlags(t, "--config="+path)
	if err := got.Complete(fs.Changed, nowhere(t)); err != nil {
		t.Fatal(err)
	}
	want := NewControllerOptions()
	want.Election.Namespace = hubflags.DefaultNamespace
	if diff := cmp.Diff(want.Serving, got.Serving); diff != "" {
		t.Errorf("serving (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Election, got.Election); diff != "" {
		t.Errorf("leader election (-want +got):\n%s", diff)
	}
}

func TestBadConfig(t *testing.T) {
	for _, tc := range []struct {
		reason, config string
		want           []string
	}{
		{"another kind", "apiVersion: v1\nkind: ConfigMap\n", []string{`"ConfigMap"`, `use apiVersion "operator.openshift.io/v1alpha1"`}},
		{"no kind", "servingInfo: {}\n", []string{`kind ""`, `kind "GenericOperatorConfig"`}},
		{"not YAML", "{", []string{"not YAML or JSON"}},
		{"an unknown field is named", configHeader + "servingInfo: {bindAdress: x}\n", []string{`"servingInfo.bindAdress"`, "correct or remove"}},
		{"an unknown section is named", configHeader + "kubeClientConfig: {}\n", []string{`"kubeClientConfig"`}},
		{"a duration needs a unit", configHeader + "leaderElection: {leaseDuration: '137'}\n", []string{"missing unit"}},
		{"a wrong type", configHeader + "servingInfo: []\n", []string{"servingInfo"}},
		{
			"settings without effect are refused, not ignored",
			configHeader + "servingInfo: {clientCA: /ca, requestTimeoutSeconds: 3, maxRequestsInFlight: 1, namedCertificates: [{names: [a]}]}\n",
			[]string{"servingInfo.clientCA", "servingInfo.requestTimeoutSeconds", "servingInfo.maxRequestsInFlight", "servingInfo.namedCertificates"},
		},
		{"authorization needs authentication", configHeader + "authentication: {disabled: true}\n", []string{"set both or neither"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			path := expect.File(t, filepath.Join(t.TempDir(), "config.yaml"), tc.config)
			_, err := loadOperatorConfig(path)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range append(tc.want, "--config", path) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not contain %q", err, part)
				}
			}
		})
	}
}

func TestMissingConfig(t *testing.T) {
	_, err := loadOperatorConfig(filepath.Join(t.TempDir(), "absent.yaml"))
	if err == nil || !strings.Contains(err.Error(), "absent.yaml") || !strings.Contains(err.Error(), "check the path") {
		t.Errorf("error = %v, want one that names the file and what to do", err)
	}
}
