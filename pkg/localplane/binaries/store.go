// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// oldestStoreVersion is the first Kubernetes release that serves ValidatingAdmissionPolicy v1.
var oldestStoreVersion = version.MustParseSemantic("1.30.0")

// storeDirectory returns the directory in which setup-envtest stores downloaded versions; "" if there is no home directory.
func storeDirectory() string {
	home := os.Getenv("HOME")
	switch runtime.GOOS {
	case "windows":
		if base := os.Getenv("LocalAppData"); base != "" {
			return filepath.Join(base, "kubebuilder-envtest", "k8s")
		}
	case "darwin":
		if home != "" {
			return filepath.Join(home, "Library", "Application Support", "io.kubebuilder.envtest", "k8s")
		}
	default:
		if base := os.Getenv("XDG_DATA_HOME"); base != "" {
			return filepath.Join(base, "kubebuilder-envtest", "k8s")
		}
		if home != "" {
			return filepath.Join(home, ".local", "share", "kubebuilder-envtest", "k8s")
		}
	}
	return ""
}

// storeVersions returns the versions in the store for this platform that are new enough, newest first, or the reason why there are none.
func storeVersions() ([]place, string, error) {
	directory := storeDirectory()
	if directory == "" {
		return nil, "no home directory, hence no setup-envtest store", nil
	}
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "no setup-envtest store in " + directory, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the setup-envtest store: %w", err)
	}
	type stored struct {
		version   *version.Version
		directory string
	}
	var found []stored
	for _, entry := range entries {
		text, ours := strings.CutSuffix(entry.Name(), "-"+runtime.GOOS+"-"+runtime.GOARCH)
		if !ours {
			continue
		}
		parsed, err := version.ParseSemantic(text)
		if err != nil || parsed.LessThan(oldestStoreVersion) {
			continue
		}
		found = append(found, stored{parsed, filepath.Join(directory, entry.Name())})
	}
	if len(found) == 0 {
		return nil, fmt.Sprintf("no version %s or newer for this platform in the setup-envtest store %s",
			oldestStoreVersion, directory), nil
	}
	slices.SortFunc(found, func(a, b stored) int {
		if a.version.LessThan(b.version) {
			return 1
		}
		return -1
	})
	places := make([]place, 0, len(found))
	for _, version := range found {
		places = append(places, place{
			name:      "Kubernetes " + version.version.String() + " from the setup-envtest store",
			directory: version.directory,
			store:     true,
		})
	}
	return places, "", nil
}
