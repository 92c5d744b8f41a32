package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClaimDataDir(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "a", "b")
	expect := func(reason string, want bool) {
		t.Helper()
		isNew, err := claimDataDir(directory)
		must(t, err)
		if isNew != want {
			t.Errorf("%s: new = %t, want %t", reason, isNew, want)
		}
	}
	expect("nothing is there", true)
	writeFile(t, filepath.Join(directory, "port"), "1")
	expect("the first run ended before it had set the directory up", true)
	must(t, markPrepared(directory))
	expect("the directory has been set up", false)
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 2 {
		t.Errorf("the directory holds %v (%v), want the marker and the port only", entries, err)
	}
}

func TestBadDataDir(t *testing.T) {
	foreign := t.TempDir()
	writeFile(t, filepath.Join(foreign, "thesis.tex"), "")
	file := writeFile(t, filepath.Join(t.TempDir(), "file"), "")
	for _, tc := range []struct {
		reason, path string
		want         []string
	}{
		{"a directory with other things must not be filled", foreign, []string{foreign, "thesis.tex", "choose a new or an empty directory"}},
		{"a file", file, []string{"--data-dir", file, "choose"}},
		{"below a file", filepath.Join(file, "data"), []string{"--data-dir", file, "choose"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			_, err := claimDataDir(tc.path)
			wantError(t, err, tc.want)
		})
	}
}

func writeFile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError wants no error when parts is empty, and else one that contains them all.
func wantError(t *testing.T, err error, parts []string) {
	t.Helper()
	if (err != nil) != (len(parts) > 0) {
		t.Fatalf("error = %v, want one with %q", err, parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not contain %q", err, part)
		}
	}
}
