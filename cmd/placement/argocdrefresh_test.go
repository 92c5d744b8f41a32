// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
)

func TestArgoCDRefreshRefusesBadFlags(t *testing.T) {
	for _, c := range []struct {
		reason, flag, want string
	}{
		{"no namespace", "--argocd-namespace=", `--argocd-namespace: "" is no name of a namespace`},
		{"several namespaces", "--argocd-namespace=a,b", `--argocd-namespace: "a,b" is no name of a namespace`},
		{"a write storm", "--min-interval=999ms", "--min-interval: 999ms is shorter than 1s"},
		{"a negative time", "--min-interval=-1m", "--min-interval: -1m0s is shorter than 1s"},
		{"no port", "--metrics-listen=localhost", "--metrics-listen: address localhost: missing port in address; use host:port"},
		{"a port alone", "--probes-listen=8081", "--probes-listen: address 8081: missing port in address; use host:port"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := executeWithInput(t, "", []string{"argocd-refresh", c.flag}, &stdout, &stderr)
			if code != exit.Usage || !strings.Contains(stderr.String(), c.want) || stdout.Len() > 0 {
				t.Errorf("exit code %d, want %d; got %q, want %q in it", code, exit.Usage, &stderr, c.want)
			}
		})
	}
}
