// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/test/expect"
)

func TestExplainPageShowsRealOutput(t *testing.T) {
	wantRealOutput(t, "../../docs/explain.md", "explain", exit.OK)
}

func TestFederatedPageShowsRealOutput(t *testing.T) {
	wantRealOutput(t, "../../docs/federated.md", "federated", exit.OK)
	wantRealOutput(t, "../../docs/federated.md", "simulate", exit.OK)
}

func TestDiffPageShowsRealOutput(t *testing.T) {
	wantRealOutput(t, "../../docs/diff.md", "diff", exit.Differs)
}

// wantRealOutput runs the commands that a page for users shows, over the samples and docs/examples, and compares what they print with what is
// shown. Commands that name neither run on a live hub, and are left alone.
func wantRealOutput(t *testing.T, page, subcommand string, wantCode int) {
	t.Helper()
	state := samplesIn(t)
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	prompt := "\n$ placement " + subcommand + " "
	blocks := strings.Split(string(content), "```")
	shown := 0
	located := strings.NewReplacer("deploy/samples", state, "docs/examples", "../../docs/examples")
	for i, block := range blocks {
		command, _, _ := strings.Cut(strings.TrimPrefix(block, prompt), "\n")
		if !strings.HasPrefix(block, prompt) || !strings.Contains(command, "deploy/samples") && !strings.Contains(command, "docs/examples") {
			continue
		}
		shown++
		var stdout, stderr bytes.Buffer
		args := append([]string{subcommand}, strings.Fields(located.Replace(command))...)
		if code := executeWithInput(t, "", args, &stdout, &stderr); code != wantCode {
			t.Fatalf("%s: exit code %d: %s", command, code, &stderr)
		}
		blocks[i] = prompt + command + "\n" + stdout.String()
	}
	if shown == 0 {
		t.Errorf("%s shows no command", page)
	}
	expect.Golden(t, page, strings.Join(blocks, "```"))
}
