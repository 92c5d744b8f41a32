// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// liveTimeout bounds the check whether the hub of an existing kubeconfig still runs.
const liveTimeout = 2 * time.Second

// kubeconfigContext is the name that localplane.Kubeconfig gives to the only cluster, user and context.
const kubeconfigContext = "placement-hub"

// kubeconfigFile is a kubeconfig for the users of the hub.
type kubeconfigFile struct {
	path    string
	content []byte
	made    string // the directory that was made for it, if any
}

// checkKubeconfigPath returns an error if the file exists and `placement run` did not write it, or its hub still runs. The kubeconfig of a
// killed run may be overwritten.
func checkKubeconfigPath(ctx context.Context, path string) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("--write-kubeconfig: %w; choose another path", err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil || !writtenByRun(content) {
		return fmt.Errorf("--write-kubeconfig: %s is there and was not written by this command; choose another path, or move that file", path)
	}
	if serverRuns(ctx, config) {
		return fmt.Errorf("--write-kubeconfig: %s belongs to a hub that runs (%s); stop that one, or choose another path", path, config.Host)
	}
	return nil
}

func writtenByRun(content []byte) bool {
	config, err := clientcmd.Load(content)
	if err != nil || len(config.Clusters) != 1 || len(config.Contexts) != 1 || config.CurrentContext != kubeconfigContext {
		return false
	}
	cluster := config.Clusters[kubeconfigContext]
	return cluster != nil && strings.HasPrefix(cluster.Server, "https://127.0.0.1:")
}

func serverRuns(ctx context.Context, config *rest.Config) bool {
	config.Timeout = liveTimeout
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return false
	}
	_, err = client.ServerVersionWithContext(ctx)
	return err == nil
}

// writeKubeconfig writes the file of a configuration atomically.
func writeKubeconfig(path string, config *rest.Config) (*kubeconfigFile, error) {
	content, err := localplane.Kubeconfig(config)
	if err != nil {
		return nil, err
	}
	return writeContent(path, content)
}

// writeContent writes the file atomically.
func writeContent(path string, content []byte) (*kubeconfigFile, error) {
	file := &kubeconfigFile{path: path, content: content}
	directory := filepath.Dir(path)
	switch err := os.Mkdir(directory, 0o700); {
	case err == nil:
		file.made = directory
	case !errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("--write-kubeconfig: %w; choose a path in a directory that exists and that you may write to", err)
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("--write-kubeconfig: %w; choose a path that you may write to", err), file.removeDirectory())
	}
	if err := os.Rename(temporary, path); err != nil {
		return nil, errors.Join(fmt.Errorf("--write-kubeconfig: %w; choose another path", err), os.Remove(temporary), file.removeDirectory())
	}
	return file, nil
}

// remove deletes the file unless its content has changed, and the directory made for it unless that has other files.
func (f *kubeconfigFile) remove() error {
	content, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("removing the kubeconfig: %w", err)
	case !bytes.Equal(content, f.content):
		return nil
	default:
		if err := os.Remove(f.path); err != nil {
			return fmt.Errorf("removing the kubeconfig: %w", err)
		}
	}
	return f.removeDirectory()
}

func (f *kubeconfigFile) removeDirectory() error {
	if f.made == "" {
		return nil
	}
	entries, err := os.ReadDir(f.made)
	if errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
		return nil
	}
	if err == nil {
		err = os.Remove(f.made)
	}
	if err != nil {
		return fmt.Errorf("removing the directory of the kubeconfig: %w", err)
	}
	return nil
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,-]+$`)

// exportLine returns the shell command that selects the kubeconfig.
func exportLine(path string) string {
	if !plainPath.MatchString(path) {
		path = "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return "export KUBECONFIG=" + path
}
