// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// recipes are the fields of docs/examples/ci that have commands.
type recipes struct {
	Jobs map[string]struct {
		Steps []struct {
			Run string `json:"run"`
		} `json:"steps"`
	} `json:"jobs"`
	Test struct {
		Script []string `json:"script"`
	} `json:"placement-test"`
	Repos []struct {
		Hooks []struct {
			Entry string `json:"entry"`
		} `json:"hooks"`
	} `json:"repos"`
}

// commands returns the commands in their order.
func (r *recipes) commands() []string {
	commands := r.Test.Script
	for _, job := range r.Jobs {
		for _, step := range job.Steps {
			if step.Run != "" {
				commands = append(commands, step.Run)
			}
		}
	}
	for _, repo := range r.Repos {
		for _, hook := range repo.Hooks {
			commands = append(commands, hook.Entry)
		}
	}
	return commands
}

func readRecipe(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile("../../../docs/examples/ci/" + name)
	suite.Must(t, err)
	suite.Must(t, yaml.Unmarshal(content, into))
}

// repository returns a directory with cases and a world, as the recipes expect it.
func repository(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	for _, name := range []string{"bin", "cases", "world"} {
		suite.Must(t, os.Mkdir(filepath.Join(directory, name), 0o700))
	}
	suite.Must(t, os.Symlink(suite.Binary, filepath.Join(directory, "bin", "placement")))
	cases, err := os.ReadFile("../../../docs/examples/placement-test.yaml")
	suite.Must(t, err)
	suite.Must(t, os.WriteFile(filepath.Join(directory, "cases", "cases.yaml"), cases, 0o600))
	suite.Must(t, os.CopyFS(filepath.Join(directory, "world"), os.DirFS("../../../deploy/samples")))
	for _, other := range []string{"clusters", "federation", "pods"} {
		suite.Must(t, os.RemoveAll(filepath.Join(directory, "world", other)))
	}
	return directory
}

// runIn runs a command of a shell in a repository, without any cluster, and returns its exit code and output.
func runIn(t *testing.T, directory, command string) (code int, output string) {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-e", "-c", command)
	shell.Dir = directory
	shell.Env = []string{
		"PATH=" + filepath.Join(directory, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + directory, "KUBECONFIG=/nonexistent",
		"GITHUB_STEP_SUMMARY=" + filepath.Join(directory, "summary.md"),
	}
	out, err := shell.CombinedOutput()
	if shell.ProcessState == nil {
		t.Fatalf("%s: %v", command, err)
	}
	return shell.ProcessState.ExitCode(), string(out)
}

// PT18: the commands of the recipes are run as they are written. They succeed while all cases hold, and fail as soon as one does not.
func TestRecipes(t *testing.T) {
	for _, test := range []struct {
		recipe string
		// report is the file that the commands write, and has a part of it.
		commands    int
		report, has string
	}{
		{"github.yaml", 2, "summary.md", "### Placement tests: 2 cases: 2 hold"},
		{"gitlab.yaml", 1, "placements.xml", `<testsuites tests="2" failures="0" errors="0">`},
		{"pre-commit.yaml", 1, "", ""},
	} {
		var read recipes
		readRecipe(t, test.recipe, &read)
		directory, commands := repository(t), read.commands()
		if len(commands) != test.commands {
			t.Fatalf("PT18: %s has the commands %q", test.recipe, commands)
		}
		for _, command := range commands {
			if code, output := runIn(t, directory, command); code != 0 {
				t.Errorf("PT18: %s: %s: exit code %d: %s", test.recipe, command, code, output)
			}
		}
		if test.report != "" {
			content, err := os.ReadFile(filepath.Join(directory, test.report))
			suite.Must(t, err)
			if !strings.Contains(string(content), test.has) {
				t.Errorf("PT18: %s: %s has\n%s", test.recipe, test.report, content)
			}
		}
		file := filepath.Join(directory, "cases", "cases.yaml")
		content, err := os.ReadFile(file)
		suite.Must(t, err)
		suite.Must(t, os.WriteFile(file, []byte(strings.Replace(string(content), "atLeast: 2", "atLeast: 1000", 1)), 0o600))
		if code, output := runIn(t, directory, commands[0]); code != 1 {
			t.Errorf("PT18: %s: exit code %d of a case that fails: %s", test.recipe, code, output)
		}
		if strings.HasSuffix(test.report, ".xml") {
			content, err := os.ReadFile(filepath.Join(directory, test.report))
			suite.Must(t, err)
			suite.Must(t, xml.Unmarshal(content, new(struct{})))
		}
	}
}

// checkPreSync runs the container of the hook of Argo CD on a hub, with the cases of a ConfigMap in its directory.
func checkPreSync(t *testing.T, h *suite.Hub) {
	t.Helper()
	var job batchv1.Job
	readRecipe(t, "argocd-presync.yaml", &job)
	container := job.Spec.Template.Spec.Containers[0]
	if container.WorkingDir != container.VolumeMounts[0].MountPath {
		t.Errorf("PT18: the container works in %s, and has its files in %s", container.WorkingDir, container.VolumeMounts[0].MountPath)
	}
	viewer := withRoles(t, h, "presync", "open-cluster-management:placement-hub:view", "open-cluster-management:placement-hub:fleet-view")
	directory := t.TempDir()
	for want, cases := range map[int]string{0: strings.Split(standbyCases, "---")[0], 1: standbyCases} {
		suite.Must(t, os.WriteFile(filepath.Join(directory, "cases.yaml"), []byte(cases), 0o600))
		command := exec.CommandContext(t.Context(), suite.Binary, container.Args...)
		command.Dir, command.Env = directory, []string{"KUBECONFIG=" + viewer, "HOME=" + directory}
		out, err := command.CombinedOutput()
		if command.ProcessState.ExitCode() != want {
			t.Errorf("PT18: exit code %d instead of %d: %v: %s", command.ProcessState.ExitCode(), want, err, out)
		}
	}
}
