// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// KubectlOutput is what kubectl prints.
func KubectlOutput(t *testing.T, kubeconfig string, args ...string) string {
	t.Helper()
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), filepath.Join(Assets, "kubectl"), append([]string{"--kubeconfig", kubeconfig}, args...)...)
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, stderr.String())
	}
	return string(stdout)
}

// Kubectl runs kubectl, which has to succeed.
func Kubectl(t *testing.T, kubeconfig string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(Assets, "kubectl"), append([]string{"--kubeconfig", kubeconfig}, args...)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, output)
	}
}
