// SPDX-License-Identifier: Apache-2.0

package consumerpages

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var fencedBlock = regexp.MustCompile("(?s)```(yaml|sh)\n(.*?\n)```\n")

// blocks returns the YAML and the commands of a page of the documentation.
func blocks(page string) (yaml, sh []string) {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
	Expect(err).NotTo(HaveOccurred())
	for _, block := range fencedBlock.FindAllStringSubmatch(string(text), -1) {
		if block[1] == "yaml" {
			yaml = append(yaml, block[2])
		} else {
			sh = append(sh, block[2])
		}
	}
	return yaml, sh
}

// shell runs commands with all rights.
type shell struct{ directory, kubectl string }

func newShell() *shell {
	GinkgoHelper()
	assets, err := binaries.Find()
	Expect(err).NotTo(HaveOccurred())
	Expect(assets.Kubectl).NotTo(BeEmpty(), "no kubectl beside the control plane: run `make assets`")
	s := &shell{directory: GinkgoT().TempDir(), kubectl: filepath.Dir(assets.Kubectl)}
	content, err := localplane.Kubeconfig(suite.ControlPlane.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	s.file("kubeconfig", string(content))
	return s
}

// file writes a file that commands name.
func (s *shell) file(name, content string) {
	GinkgoHelper()
	Expect(os.WriteFile(filepath.Join(s.directory, name), []byte(content), 0o600)).To(Succeed())
}

func (s *shell) run(commands string) (string, error) {
	command := exec.Command("sh", "-ec", commands)
	command.Dir = s.directory
	command.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(s.directory, "kubeconfig"), "KUBERC=off", "HOME="+s.directory,
		"PATH="+s.kubectl+string(filepath.ListSeparator)+os.Getenv("PATH"))
	printed, err := command.CombinedOutput()
	return string(printed), err
}

// apply applies YAML.
func (s *shell) apply(yaml string) {
	GinkgoHelper()
	s.file("objects.yaml", yaml)
	printed, err := s.run("kubectl apply --server-side -f objects.yaml")
	Expect(err).NotTo(HaveOccurred(), printed)
}
