// SPDX-License-Identifier: Apache-2.0

package consumerpages

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// kueue is the module with the definitions, of the version that the page names.
const kueue = "sigs.k8s.io/kueue@v0.19.0"

func TestConsumerPages(t *testing.T) {
	suite.Run(t, "the pages about consumers of ClusterProfiles", suite.BeforeHub(install), suite.ConfigureHub(func(o *system.Options) {
		o.Controllers, o.ProfileDecisions = append(o.Controllers, manifests.ClusterProfiles), true
	}))
}

// install installs ClusterProfiles and the definitions of Kueue. Nothing serves its webhooks.
func install(ctx SpecContext) {
	admin := suite.ControlPlane.AdminConfig()
	Expect(manifests.InstallMulticluster(ctx, admin)).To(Succeed())
	Expect(manifests.InstallSystem(ctx, admin, manifests.ClusterProfiles, "")).To(Succeed())
	directory := filepath.Join(download(), "config", "components", "crd", "bases")
	for _, kind := range []string{"multikueueclusters", "multikueueconfigs", "admissionchecks"} {
		file, err := os.Open(filepath.Join(directory, "kueue.x-k8s.io_"+kind+".yaml"))
		Expect(err).NotTo(HaveOccurred())
		definition, err := manifests.Decode(file, file.Name())
		Expect(err).NotTo(HaveOccurred())
		Expect(file.Close()).To(Succeed())
		Expect(manifests.Apply(ctx, admin, definition)).To(Succeed())
	}
}

// download returns the directory of the module of Kueue in the module cache, which has it after the first time.
func download() string {
	GinkgoHelper()
	command := exec.Command("go", "mod", "download", "-json", kueue)
	command.Dir = GinkgoT().TempDir() // Without a module: the one of this repository does not require it.
	command.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var printed bytes.Buffer
	command.Stdout, command.Stderr = &printed, GinkgoWriter
	By("downloading " + kueue + ", 5 MB the first time")
	err := command.Run()
	Expect(err).NotTo(HaveOccurred(), "download %s: %s\nhint: check that the module proxy of `go env GOPROXY` is reachable", kueue, &printed)
	var module struct{ Dir string }
	Expect(json.Unmarshal(printed.Bytes(), &module)).To(Succeed())
	return module.Dir
}
