// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// Kubectl returns a function that runs the kubectl of the control plane in a namespace, with all rights, and returns its output.
func Kubectl(ctx context.Context, namespace string) func(arguments ...string) string {
	GinkgoHelper()
	assets, err := binaries.Find()
	Expect(err).NotTo(HaveOccurred())
	Expect(assets.Kubectl).NotTo(BeEmpty(), "no kubectl beside the control plane: run `make assets`")
	content, err := localplane.Kubeconfig(ControlPlane.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	directory := GinkgoT().TempDir()
	file := filepath.Join(directory, "kubeconfig")
	Expect(os.WriteFile(file, content, 0o600)).To(Succeed())
	return func(arguments ...string) string {
		GinkgoHelper()
		common := []string{"--kubeconfig=" + file, "--cache-dir=" + filepath.Join(directory, "cache"), "--namespace=" + namespace}
		command := exec.CommandContext(ctx, assets.Kubectl, append(common, arguments...)...)
		command.Env = append(os.Environ(), "KUBERC=off") // Preferences of who runs the tests change what kubectl does.
		var complaint strings.Builder
		command.Stderr = &complaint
		printed, err := command.Output()
		Expect(err).NotTo(HaveOccurred(), "kubectl %v: %s", arguments, complaint.String())
		return string(printed)
	}
}

// Rows splits a table that kubectl prints into lines of words.
func Rows(table string) [][]string {
	var rows [][]string
	for line := range strings.Lines(table) {
		rows = append(rows, strings.Fields(line))
	}
	return rows
}
