// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// stdinName is the path of standard input on the command line.
const stdinName = "-"

// stateFileExtensions are the extensions of the files that are read from a directory; a file that is named itself may have any.
var stateFileExtensions = []string{".yaml", ".yml", ".json"}

// definitions returns the CustomResourceDefinitions that files are validated with. All callers get the same ones and must not change them,
// because decoding them takes longer than most commands.
var definitions tools.Definitions = sync.OnceValues(manifests.Definitions)

// readFiles returns a Reader of all files that a flag names, on a hub that delivers the kinds.
func readFiles(delivered []federation.FederatedKind, flag string, paths []string, stdin io.Reader) (*statefile.Reader, error) {
	reader, err := definitions.Reader(delivered)
	if err != nil {
		return nil, err
	}
	return reader, readPaths(flag, paths, stdin, reader.Read)
}

// readPaths passes every file to take: of directories, the YAML and JSON files directly in it, by name. Errors name the flag.
func readPaths(flag string, paths []string, stdin io.Reader, take func(name string, content []byte)) error {
	for _, path := range paths {
		if path == stdinName {
			content, err := io.ReadAll(stdin)
			if err != nil {
				return fmt.Errorf("reading standard input: %w", err)
			}
			take("stdin", content)
			continue
		}
		files, err := stateFiles(flag, path)
		if err != nil {
			return err
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("%s: %w", flag, err)
			}
			take(file, content)
		}
	}
	return nil
}

// stateFiles returns the path itself, or the files of a directory.
func stateFiles(flag, path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains(stateFileExtensions, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: directory %s has no file that ends in .yaml, .yml or .json; subdirectories are not read", flag, path)
	}
	return files, nil
}

// onlyFlags rejects positional arguments.
func onlyFlags(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is behind no flag: files are named with -f, each with one of its own, and all else by the flags for it", args[0])
	}
	return nil
}
