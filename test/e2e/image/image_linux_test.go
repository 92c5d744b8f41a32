// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// build builds the image of the binary that is tested, for this machine, and returns its layout.
func build(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	command := exec.CommandContext(t.Context(), "go", "run", "-mod=readonly", "-trimpath", "-buildvcs=false", ".", "image", "-root", "../..",
		"-directory", directory, "-architectures", runtime.GOARCH, "-binary", runtime.GOARCH+"="+suite.Binary)
	command.Dir = "../../release"
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building the image: %v\n%s", err, output)
	}
	return filepath.Join(directory, "oci")
}

// isolate makes a command run in an unpacked image as its user: by chroot as root, and in a user namespace else.
func isolate(t *testing.T, command *exec.Cmd, root, user string) {
	t.Helper()
	uid, gid, _ := strings.Cut(user, ":")
	command.SysProcAttr = &syscall.SysProcAttr{
		Chroot:     root,
		Credential: &syscall.Credential{Uid: parseID(t, uid), Gid: parseID(t, gid), NoSetGroups: os.Getuid() != 0},
	}
	command.Dir = "/"
	if os.Getuid() == 0 {
		return
	}
	command.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: int(parseID(t, uid)), HostID: os.Getuid(), Size: 1}}
	command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: int(parseID(t, gid)), HostID: os.Getgid(), Size: 1}}
}

func parseID(t *testing.T, text string) uint32 {
	t.Helper()
	id, err := strconv.ParseUint(text, 10, 32)
	suite.Must(t, err)
	return uint32(id)
}

func TestTheEntrypointDecidesAsItsUser(t *testing.T) {
	layout := build(t)
	root := t.TempDir()
	suite.Must(t, os.Chmod(root, 0o755))
	c := unpack(t, layout, runtime.GOARCH, root)
	if c.Config.User != "65532:65532" || len(c.Config.Entrypoint) != 1 {
		t.Fatalf("the configuration is %+v", c)
	}

	h := suite.StartHub(t)
	samples := suite.Run(t, "run", "--kubeconfig", h.AdminKubeconfig, "--samples", "--once")
	samples.WantExit(t, 0)
	kubeconfig, err := os.ReadFile(h.Kubeconfig)
	suite.Must(t, err)
	suite.Must(t, os.WriteFile(filepath.Join(root, "tmp", "kubeconfig"), kubeconfig, 0o644))

	var version bytes.Buffer
	asked := exec.CommandContext(t.Context(), c.Config.Entrypoint[0], "version")
	asked.Env, asked.Stdout, asked.Stderr = c.Config.Env, &version, &version
	isolate(t, asked, root, c.Config.User)
	if err := asked.Run(); err != nil || !strings.HasPrefix(version.String(), "placement ") {
		t.Fatalf("%s version: %v\n%s\nhint: the test needs root, or user namespaces of users "+
			"(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)", c.Config.Entrypoint[0], err, &version)
	}

	// As in a Deployment of upstream, whose args begin with the path of the binary.
	var log suite.Output
	process := exec.CommandContext(t.Context(), c.Config.Entrypoint[0], "/placement", "controller", "--kubeconfig=/tmp/kubeconfig",
		"--controllers=placement", "--listen=127.0.0.1:0")
	process.Env, process.Stdout, process.Stderr = c.Config.Env, &log, &log
	isolate(t, process, root, c.Config.User)
	suite.Must(t, process.Start())
	h.MoveCluster(t, "eu3", "ap-south")
	h.WantDecisions(t, types.NamespacedName{Namespace: "team-a", Name: "standby"}, "ap1", "eu3")
	status, err := os.ReadFile("/proc/" + strconv.Itoa(process.Process.Pid) + "/status")
	suite.Must(t, err)
	if os.Getuid() == 0 && !strings.Contains(string(status), "\nUid:\t65532\t65532\t65532\t65532\n") {
		t.Errorf("the process is of another user:\n%s", status)
	}
	suite.Must(t, process.Process.Signal(syscall.SIGTERM))
	if err := process.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, log.String())
	}
}
