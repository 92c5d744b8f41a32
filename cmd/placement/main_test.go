// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// TestMain lets no test find the hub of the person or the Pod that runs it: tests name their own.
func TestMain(m *testing.M) {
	for _, name := range []string{"KUBECONFIG", "KUBERNETES_SERVICE_HOST", "POD_NAMESPACE"} {
		if err := os.Unsetenv(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	clientcmd.RecommendedHomeFile = "/nonexistent/.kube/config" // client-go reads HOME when the process starts.
	m.Run()
}
