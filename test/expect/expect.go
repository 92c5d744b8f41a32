// SPDX-License-Identifier: Apache-2.0

package expect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// NoError ends the test when there is one.
func NoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Error wants no error when parts is empty, and else one that contains them all.
func Error(t *testing.T, err error, parts []string) {
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

// File writes a file, with the directories above it, and returns its path.
func File(t *testing.T, path, content string) string {
	t.Helper()
	NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// Kubeconfig returns the text of a kubeconfig whose current context has a user with a token and a server, which needs no certificate.
func Kubeconfig(server string) string {
	return "apiVersion: v1\nkind: Config\ncurrent-context: hub\ncontexts: [{name: hub, context: {cluster: hub, user: me}}]\n" +
		"users: [{name: me, user: {token: secret}}]\nclusters: [{name: hub, cluster: {insecure-skip-tls-verify: true, server: '" + server + "'}}]\n"
}
