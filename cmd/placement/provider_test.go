// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
)

func TestProviderRefusesBadFlags(t *testing.T) {
	program := filepath.Join(t.TempDir(), "kube-apiserver")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	loopback := []string{"loopback", "--kube-apiserver-binary=" + program, "--data-dir=" + t.TempDir()}
	for _, c := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"no subcommand of that name", []string{"gardener"}, `unknown command "gardener"`},
		{"no name", []string{"null", "--provider-name=A_b"}, `--provider-name: "A_b" cannot be the name of a ClusterProvider`},
		{"a token that API servers refuse", []string{"null", "--token-lifetime=1m"}, "--token-lifetime: 1m0s is shorter than 10m0s"},
		{"no environment", []string{"null", "--environment="}, "--environment: it is empty"},
		{"no program", []string{"loopback"}, "--kube-apiserver-binary: it is required"},
		{"a program that is not there", []string{"loopback", "--kube-apiserver-binary=/x"}, "--kube-apiserver-binary: stat /x"},
		{"a program that is a directory", []string{"loopback", "--kube-apiserver-binary=/"}, "is not executable"},
		{"an agent that is not there", append(loopback, "--work-agent-binary=/y"), "--work-agent-binary: stat /y"},
		{"no namespace", append(loopback, "--namespace="), `--namespace: "" is no name of a namespace`},
		{"no data directory", []string{"loopback", "--kube-apiserver-binary=" + program}, "--data-dir: it is required"},
		{"etcd without a scheme", append(loopback, "--etcd-endpoints=127.0.0.1:2379"), `--etcd-endpoints: "127.0.0.1:2379" is no URL`},
		{"no etcd", append(loopback, "--etcd-endpoints="), "--etcd-endpoints: there is none"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := executeWithInput(t, "", append([]string{"provider"}, c.args...), &stdout, &stderr)
			if code != exit.Usage || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("exit code %d, want %d; got %q, want %q in it", code, exit.Usage, &stderr, c.want)
			}
		})
	}
}
