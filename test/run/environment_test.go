// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// variables are what the environment of a machine may have, and whether tests see it as it is.
var variables = []struct {
	reason, name, value string
	kept                bool
}{
	{"another cluster", "KUBECONFIG", "/home/me/.kube/config", false},
	{"preferences of kubectl", "KUBERC", "/home/me/kuberc", false},
	{"the program that kubectl compares with", "KUBECTL_EXTERNAL_DIFF", "meld", false},
	{"a machine that is a Pod", "KUBERNETES_SERVICE_HOST", "10.0.0.1", false},
	{"a machine that is a Pod", "POD_NAMESPACE", "ci", false},
	{"where Helm keeps releases", "HELM_DRIVER", "sql", false},
	{"the namespace of Helm", "HELM_NAMESPACE", "mine", false},
	{"flags of etcd", "ETCD_NAME", "mine", false},
	{"a collector of traces", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318", false},
	{"a locale", "LC_ALL", "tr_TR.UTF-8", false},
	{"a part of a locale", "LC_MESSAGES", "de_DE.UTF-8", false},
	{"a locale", "LANG", "de_DE.UTF-8", false},
	{"the languages of messages", "LANGUAGE", "de", false},
	{"a time zone", "TZ", "Asia/Kathmandu", false},
	{"a hook of git runs the tests", "GIT_DIR", "/elsewhere/.git", false},
	{"a hook of git runs the tests", "GIT_INDEX_FILE", "/elsewhere/index", false},
	{"settings of git", "GIT_CONFIG_GLOBAL", "/home/me/gitconfig", false},
	{"settings of git", "GIT_CONFIG_COUNT", "1", false},
	{"the program that git compares with", "GIT_EXTERNAL_DIFF", "meld", false},
	{"a home directory", "HOME", "/home/me", false},
	{"settings in a home directory", "XDG_CONFIG_HOME", "/home/me/.config", false},
	{"the store of setup-envtest", "XDG_DATA_HOME", "/home/me/.local/share", false},
	{"a socket of an engine", "DOCKER_HOST", "tcp://127.0.0.1:2375", false},
	{"a terminal", "TERM", "xterm", false},
	{"colors", "NO_COLOR", "1", false},
	{"colors", "FORCE_COLOR", "1", false},
	{"CI", "CI", "true", false},
	{"flags of make", "MAKEFLAGS", "k", false},
	{"a token", "GITHUB_TOKEN", "secret", false},
	{"a workspace of Go around the checkout", "GOWORK", "/home/me/go.work", false},
	{"programs", "PATH", "/usr/bin", true},
	{"temporary files", "TMPDIR", "/scratch", true},
	{"flags of go", "GOFLAGS", "-trimpath", true},
	{"the module proxy", "GOPROXY", "off", true},
	{"the garbage collector", "GOGC", "50", true},
	{"no C compiler", "CGO_ENABLED", "0", true},
	{"the way to the module proxy", "HTTPS_PROXY", "http://proxy.example:3128", true},
	{"the way to the module proxy", "no_proxy", "example.com", true},
	{"who signs for the module proxy", "SSL_CERT_FILE", "/etc/ssl/own.pem", true},
	{"a browser that was asked for", "CHROMIUM", "/usr/bin/chromium", true},
	{"a control plane that was asked for", "KUBEBUILDER_ASSETS", "/assets", true},
	{"programs of OCM that were asked for", "OCM_ASSETS", "/ocm", true},
	{"a seed that was asked for", "PLACEMENT_SEED", "7", true},
	{"a number of inputs that was asked for", "RAPID_CHECKS", "9", true},
}

// Tests see what is asked for, and nothing else that a machine has. CONTRIBUTING.md has the table for people.
func TestTestsSeeTheSameEverywhere(t *testing.T) {
	f := newFake(t)
	for _, variable := range variables {
		t.Setenv(variable.name, variable.value)
	}
	t.Setenv("PATH", "/usr/bin:/bin")
	t.Setenv("NETRC", "") // The driver that runs this test has set it.
	t.Setenv("TMPDIR", f.directory)
	f.write("go", "#!/bin/sh\nif [ \"$1\" != env ]; then env | sort > \"$FAKE/seen.$1\"; fi\n"+strings.TrimPrefix(fakeGo, "#!/bin/sh\n"), 0o755)
	f.add("pkg/a", passing("pkg/a", "1.5s")...)
	f.add("test/integration/b", passing("test/integration/b", "1.5s")...)
	if code := f.run(t.Context()); code != 0 {
		t.Fatalf("exit code %d; %s", code, f.errors.String())
	}
	home := filepath.Join(f.driver.root, "bin", "test-home")
	same := []string{
		"TZ=UTC", "LC_ALL=C.UTF-8", "TERM=dumb", "GIT_CONFIG_NOSYSTEM=1", "GOWORK=off", "HOME=" + home, "NETRC=/home/me/.netrc",
		"GOPATH=/go", "GOCACHE=/go/build", "GOMODCACHE=/go/mod", "GOENV=/go/env",
	}
	for _, command := range []string{"test", "tool"} {
		seen := strings.Split(f.read("seen."+command), "\n")
		for _, variable := range same {
			if !slices.Contains(seen, variable) {
				t.Errorf("go %s does not see %s", command, variable)
			}
		}
		for _, variable := range variables {
			entry := variable.name + "=" + os.Getenv(variable.name)
			if got := slices.Contains(seen, entry); got != variable.kept {
				t.Errorf("%s: go %s sees %s = %t, want %t", variable.reason, command, entry, got, variable.kept)
			}
		}
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("the home directory of tests has %v (%v), want that it is there and empty", entries, err)
	}
}

// A machine without a home directory has no credentials there.
func TestNoHomeDirectory(t *testing.T) {
	got := isolated([]string{"PATH=/usr/bin", "GOCACHE=/cache"}, "/checkout/bin/test-home")
	if valueOf(got, "NETRC") != "" || valueOf(got, "HOME") != "/checkout/bin/test-home" || valueOf(got, "GOCACHE") != "/cache" {
		t.Errorf("got %q", got)
	}
	if got := isolated([]string{"HOME=/home/me", "NETRC=/elsewhere"}, "/home"); valueOf(got, "NETRC") != "/elsewhere" {
		t.Errorf("a file of credentials that was named is replaced: %q", got)
	}
}
