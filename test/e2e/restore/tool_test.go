// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// page is docs/backup.md.
const page = "../../../docs/backup.md"

// collectTimeout bounds the time of the garbage collector, which discovers new kinds twice a minute.
const collectTimeout = 90 * time.Second

// tool restores objects as docs/backup.md says, with the commands and the resource modifiers of the page.
type tool struct {
	*world

	// functions are save, restore, restore_managers and restore_status of the page.
	functions string
	// modifiers are merge patches by the resource with its group.
	modifiers map[string]string
}

// newTool reads the page.
func newTool(t *testing.T, w *world) *tool {
	t.Helper()
	content, err := os.ReadFile(page)
	suite.Must(t, err)
	_, section, found := strings.Cut(string(content), "\n## A tool that saves objects\n")
	if !found {
		t.Fatalf("%s has no section about tools that save objects", page)
	}
	commands, modifiers := blocks(section, "sh"), blocks(section, "yaml")
	if len(commands) != 3 || len(modifiers) != 1 {
		t.Fatalf("%s has %d blocks of commands and %d of modifiers", page, len(commands), len(modifiers))
	}

	// The names of the fields are those of Velero.
	var parsed struct {
		Version               string `json:"version"`
		ResourceModifierRules []struct {
			Conditions struct {
				GroupResource string `json:"groupResource"`
			} `json:"conditions"`
			MergePatches []struct {
				PatchData string `json:"patchData"`
			} `json:"mergePatches"`
		} `json:"resourceModifierRules"`
	}
	suite.Must(t, yaml.UnmarshalStrict([]byte(modifiers[0]), &parsed))
	restorer := &tool{world: w, functions: commands[0], modifiers: map[string]string{}}
	for _, rule := range parsed.ResourceModifierRules {
		if len(rule.MergePatches) != 1 {
			t.Fatalf("the rule of %s has %d patches", rule.Conditions.GroupResource, len(rule.MergePatches))
		}
		restorer.modifiers[rule.Conditions.GroupResource] = rule.MergePatches[0].PatchData
	}
	return restorer
}

// blocks returns the blocks of a page in a language.
func blocks(section, language string) []string {
	var found []string
	for _, block := range strings.Split(section, "\n```"+language+"\n")[1:] {
		content, _, _ := strings.Cut(block, "\n```")
		found = append(found, content)
	}
	return found
}

// run runs commands with the functions of the page and the rights of an administrator, and returns what they print.
func (tl *tool) run(t *testing.T, commands string) (string, error) {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-euc", tl.functions+"\n"+commands)
	shell.Dir = tl.files
	shell.Env = append(os.Environ(), "KUBECONFIG="+tl.AdminKubeconfig, "PATH="+suite.Assets+":"+os.Getenv("PATH"))
	output, err := shell.CombinedOutput()
	if err != nil {
		return string(output), fmt.Errorf("%s: %w\n%s", commands, err, output)
	}
	return string(output), nil
}

// must runs commands that have to succeed.
func (tl *tool) must(t *testing.T, commands string) string {
	t.Helper()
	output, err := tl.run(t, commands)
	suite.Must(t, err)
	return output
}

// step restores the objects of a kind.
type step struct {
	kind string
	// keepsOwners restores the ownerReferences.
	keepsOwners bool
	// patch, if not empty, is a merge patch that the tool applies to each object before.
	patch string
	// noStatus restores no status, and noManagers no managedFields of works.
	noStatus, noManagers bool
	// exists expects that the hub has written objects of these names before.
	exists bool
}

// restore carries a step out. Objects with their ownerReferences are gone when it returns.
func (tl *tool) restore(t *testing.T, s step) {
	t.Helper()
	from, patch := s.kind+".json", s.patch
	if s.keepsOwners {
		from, patch = s.kind+".saved", `{"metadata":{"resourceVersion":null,"uid":null}}`
	}
	patches := []string{patch}
	if s.noStatus {
		patches = append(patches, `{"status":null}`)
	}
	name := s.kind
	for i, patch := range patches {
		if patch == "" {
			continue
		}
		name = fmt.Sprintf("changed-%d", i)
		tl.must(t, "kubectl patch --local -f "+from+" --type=merge -o json --show-managed-fields -p '"+patch+"' > "+name+".json")
		from = name + ".json"
	}

	output, err := tl.run(t, "restore "+name)
	switch {
	case s.exists:
		if err == nil || strings.Contains(output, "created") || !strings.Contains(output, "AlreadyExists") {
			t.Errorf("restoring %s over what the hub has written: %v\n%s", s.kind, err, output)
		}
		return
	case err != nil:
		t.Fatal(err)
	case s.keepsOwners:
		suite.EventuallyWithin(t, collectTimeout, "waiting for the garbage collector", func() error {
			if left := tl.uids(t, s.kind); left != "" {
				return fmt.Errorf("%s %s are there", s.kind, left)
			}
			return nil
		})
		return
	}
	if s.kind == works && !s.noManagers {
		tl.must(t, "restore_managers "+name)
	}
	if !s.noStatus && hasStatus[s.kind] {
		tl.must(t, "restore_status "+name)
	}
}

// uids returns the UIDs of the objects of a kind.
func (tl *tool) uids(t *testing.T, kind string) string {
	t.Helper()
	return tl.must(t, "kubectl get "+kind+` -A --sort-by=metadata.namespace -o jsonpath='{.items[*].metadata.uid}'`)
}

// wipe deletes the objects of the kinds as if they had never been there. The hub does not run.
func (tl *tool) wipe(t *testing.T, kinds ...string) {
	t.Helper()
	for _, kind := range kinds {
		tl.must(t, "kubectl delete "+kind+" -A --all --wait=false")
	}
	suite.Eventually(t, "waiting for the deletion", func() error {
		var left []string
		for _, kind := range kinds {
			lines := tl.must(t, "kubectl get "+kind+` -A -o jsonpath='{range .items[*]}{.metadata.namespace} {.metadata.name}{"\n"}{end}'`)
			for line := range strings.Lines(lines) {
				namespace, name, _ := strings.Cut(strings.TrimSpace(line), " ")
				output, err := tl.run(t, "kubectl patch "+kind+" -n "+namespace+" "+name+` --type=merge -p '{"metadata":{"finalizers":null}}'`)
				if err != nil && !strings.Contains(output, "NotFound") { // It may be gone meanwhile.
					return err
				}
				left = append(left, kind+"/"+name)
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("left: %s", strings.Join(left, " "))
		}
		return nil
	})
}
