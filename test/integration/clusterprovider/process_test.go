// SPDX-License-Identifier: Apache-2.0

package clusterprovider

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// killAPIServer kills the API server that package localplane has recorded in a data directory.
func killAPIServer(directory string) {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(directory, "children.json"))
	Expect(err).NotTo(HaveOccurred())
	var children []struct {
		PID int `json:"pid"`
	}
	Expect(json.Unmarshal(content, &children)).To(Succeed())
	Expect(children).To(HaveLen(1))
	Expect(syscall.Kill(children[0].PID, syscall.SIGKILL)).To(Succeed())
}
