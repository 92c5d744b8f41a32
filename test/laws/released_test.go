// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	// releasedSurface has the golden files of the last release, and currentSurface those of now.
	releasedSurface = "test/surface/released"
	currentSurface  = "test/surface/testdata"
	changelog       = "CHANGELOG.md"
)

func TestWhatLeavesTheSurfaceIsAnnounced(t *testing.T) {
	expectLaw(t, checkReleased(t, os.DirFS(root(t))))
}

// checkReleased finds lines of the golden files of the last release that are gone, unless the section "Action required" of what is unreleased
// names them.
func checkReleased(t *testing.T, repository fs.FS) []string {
	t.Helper()
	released, err := fs.Glob(repository, releasedSurface+"/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	announced := actionRequired(readFile(t, repository, changelog))
	var findings []string

	for _, file := range released {
		current := map[string]bool{}
		if now := path.Join(currentSurface, path.Base(file)); exists(repository, now) {
			for line := range strings.Lines(readFile(t, repository, now)) {
				current[strings.TrimSpace(line)] = true
			}
		}

		for line := range strings.Lines(readFile(t, repository, file)) {
			line = strings.TrimSpace(line)
			if name := surfaceName(path.Base(file), line); line != "" && !current[line] && !names(announced, name) {
				findings = append(findings, fmt.Sprintf("%s: %q has been released and is gone: name %s in an entry below %q of %s",
					path.Base(file), line, name, "Action required", changelog))
			}
		}
	}

	return findings
}

// actionRequired returns the section "Action required" of the section "Unreleased"; "" if there is none.
func actionRequired(text string) string {
	var section strings.Builder
	unreleased, required := false, false
	for line := range strings.Lines(text) {
		switch title := strings.TrimSpace(line); {
		case strings.HasPrefix(line, "## "):
			unreleased, required = title == "## Unreleased", false
		case strings.HasPrefix(line, "### "):
			required = unreleased && title == "### Action required"
		case required:
			section.WriteString(line)
		}
	}

	return section.String()
}

// surfaceName returns the part of a line of a golden file by which an entry names it: the flag or the command, the JSON key, the metric, the
// object, the reason.
func surfaceName(file, line string) string {
	words := strings.Fields(line)
	if len(words) == 0 {
		return ""
	}

	switch file {
	case "commands.txt":
		for _, w := range words {
			if strings.HasPrefix(w, "--") {
				return w
			}
		}
		return line
	case "json.txt":
		_, field, _ := strings.Cut(line, ": ")
		key, _, _ := strings.Cut(field, " ")
		return strings.TrimSuffix(key[strings.LastIndex(key, ".")+1:], "[]")
	case "metrics.txt":
		return words[0]
	case "conditions.txt", "events.txt", "traces.txt", "manifests.txt":
		return words[len(words)-1]
	default:
		return line
	}
}

// names reports whether a text has a name that is no part of a longer one.
func names(text, name string) bool {
	return regexp.MustCompile(`(^|[^A-Za-z0-9_-])` + regexp.QuoteMeta(name) + `($|[^A-Za-z0-9_-])`).MatchString(text)
}

func TestReleasedCheckerFindsSilentChanges(t *testing.T) {
	repository := func(changes string) fstest.MapFS {
		return fstest.MapFS{
			changelog: {Data: []byte("# Changelog\n\n## Unreleased\n\n" + changes +
				"\n## v1.0.0\n\n### Action required\n\n* `--gone`, `pages`, `Gone`, `placement_hub_gone` and `role-gone`\n")},
			releasedSurface + "/README.md":     {},
			releasedSurface + "/commands.txt":  {Data: []byte("placement debug --gone string default \"\"\nplacement debug --stays bool\n")},
			releasedSurface + "/json.txt":      {Data: []byte("explain: placements[].pages[] int\n")},
			releasedSurface + "/events.txt":    {Data: []byte("reason Gone\n")},
			releasedSurface + "/metrics.txt":   {Data: []byte("placement_hub_gone counter a,b\nplacement_hub_stays gauge\n")},
			releasedSurface + "/manifests.txt": {Data: []byte("manifests/a.yaml: v1 Role role-gone\n")},
			releasedSurface + "/keys.txt":      {Data: []byte("example.com/stays\n")},
			currentSurface + "/commands.txt":   {Data: []byte("placement debug --stays bool\n")},
			currentSurface + "/json.txt":       {Data: []byte("explain: placements[].page int\n")},
			currentSurface + "/metrics.txt":    {Data: []byte("placement_hub_new counter\nplacement_hub_stays gauge\n")},
			currentSurface + "/keys.txt":       {Data: []byte("example.com/stays\n")},
		}
	}
	finding := func(file, line, name string) string {
		return fmt.Sprintf("%s: %q has been released and is gone: name %s in an entry below \"Action required\" of CHANGELOG.md", file, line, name)
	}
	commands := finding("commands.txt", `placement debug --gone string default ""`, "--gone")
	others := []string{
		finding("events.txt", "reason Gone", "Gone"),
		finding("json.txt", "explain: placements[].pages[] int", "pages"),
		finding("manifests.txt", "manifests/a.yaml: v1 Role role-gone", "role-gone"),
		finding("metrics.txt", "placement_hub_gone counter a,b", "placement_hub_gone"),
	}
	for reason, c := range map[string]struct {
		changes string
		want    []string
	}{
		"entries of a former release, of another section and about longer names do not count": {
			changes: "### Action required\n\n* `--gone-too` is gone\n\n### Changed\n\n* `--gone` is gone\n", want: append(others, commands),
		},
		"an entry covers what it names": {changes: "### Action required\n\n* **Flags**: `--gone` is\n  gone.\n", want: others},
		"every line is covered": {
			changes: "### Action required\n\n* `--gone`, Event `Gone`, key `pages`\n* `role-gone`, placement_hub_gone\n",
		},
	} {
		t.Run(reason, func(t *testing.T) { expectFindings(t, checkReleased(t, repository(c.changes)), c.want) })
	}

	unreleased := fstest.MapFS{changelog: {Data: []byte("# Changelog\n")}, currentSurface + "/keys.txt": {}}
	expectFindings(t, checkReleased(t, unreleased), nil)
}
