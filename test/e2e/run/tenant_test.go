// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// The commands that README.md has for a tenant, with the kubeconfig that `placement run` writes and names, get answers of the hub. They are about the
// namespace of the tenant alone.
func TestRunAsATenant(t *testing.T) {
	p := suite.Start(t, "run")
	kubeconfig := filepath.Join(p.Directory, ".placement", "kubeconfig-team-a")
	p.WaitFor(t, &p.Stdout, "as a tenant, with edit in team-a alone: export KUBECONFIG="+kubeconfig+"\n")
	if info, err := os.Stat(kubeconfig); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig of the tenant: %v, %v; want one that only its owner reads", info, err)
	}
	p.WaitFor(t, &p.Stdout, "\nteam-a/standby  1/2  ")

	for _, command := range tenantCommands(t) {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			suite.Eventually(t, "asking the hub", func() error { // It publishes its address, and the role edit gets its rules, meanwhile.
				answer := suite.Run(t, append(command, "--kubeconfig", kubeconfig)...)
				if text := answer.Stderr.String(); text != "" || !strings.Contains(answer.Stdout.String(), "team-a/") {
					return fmt.Errorf("want an answer about team-a and nothing on stderr; %s", answer)
				}
				return nil
			})
		})
	}
	other := suite.Run(t, "explain", "team-b/typo", "--kubeconfig", kubeconfig)
	other.WantExit(t, 1)
	other.WantStderr(t, `in the namespace "team-b"`)

	p.Signal(t, syscall.SIGINT)
	p.WantExit(t, 0)
	p.WantNothingLeft(t)
}

// tenantCommands returns the arguments of the commands in the block of README.md that has the kubeconfig of the tenant. Their files are found from
// everywhere.
func tenantCommands(t *testing.T) [][]string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	suite.Must(t, err)
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	suite.Must(t, err)
	_, block, found := strings.Cut(string(page), "export KUBECONFIG=.placement/kubeconfig-team-a\n")
	block, _, ends := strings.Cut(block, "```")
	if !found || !ends {
		t.Fatal("README.md has no commands of a tenant")
	}
	var commands [][]string
	for line := range strings.Lines(block) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "bin/placement" {
			t.Fatalf("README.md has the line %q among the commands of a tenant", line)
		}
		for i, field := range fields {
			if strings.HasPrefix(field, "docs/") {
				fields[i] = filepath.Join(root, field)
			}
		}
		commands = append(commands, fields[1:])
	}
	return commands
}
