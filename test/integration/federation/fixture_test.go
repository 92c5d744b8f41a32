package federation

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// installWorks installs the definition of ManifestWorks, which lies beside its Go types.
func installWorks(ctx context.Context) {
	GinkgoHelper()

	directory, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "open-cluster-management.io/api/work/v1").Output()
	Expect(err).NotTo(HaveOccurred())

	const name = "0000_00_work.open-cluster-management.io_manifestworks.crd.yaml"

	file, err := os.Open(filepath.Join(strings.TrimSpace(string(directory)), name))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(file.Close)

	objects, err := manifests.Decode(file, name)
	Expect(err).NotTo(HaveOccurred())

	for _, object := range objects {
		delete(object.Object, "status")
	}

	Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), objects)).To(Succeed())
}
