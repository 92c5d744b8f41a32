// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/placement-hub/placement-hub/test/release/image"
)

// licenseFiles are the files of the repository that the image and a release have besides the texts of test/licenses.
var licenseFiles = []string{"LICENSE", "NOTICE"}

// thirdPartyTexts is the file with the texts of the licenses of all modules.
const thirdPartyTexts = "third-party-licenses.txt"

// image builds the image of the sources.
func (o *options) image(ctx context.Context) (v1.ImageIndex, error) {
	binaries := map[string][]byte{}
	for architecture := range strings.SplitSeq(o.architectures, ",") {
		content, err := o.binary(ctx, "linux", architecture)
		if err != nil {
			return nil, err
		}
		binaries[architecture] = content
	}
	return o.imageOf(ctx, binaries)
}

func (o *options) imageOf(ctx context.Context, binaries map[string][]byte) (v1.ImageIndex, error) {
	licenses, err := o.licenses(ctx)
	if err != nil {
		return nil, err
	}
	built, err := image.Build(image.Options{
		Binaries: binaries, Licenses: licenses, Version: o.version, Commit: o.commit, Created: o.time(),
	})
	if err != nil {
		return nil, fmt.Errorf("building the image: %w", err)
	}
	return built, nil
}

// binary returns the binary for a platform: the file that a flag names, or a new build.
func (o *options) binary(ctx context.Context, system, architecture string) (content []byte, err error) {
	if named := o.binaries[architecture]; named != "" && system == "linux" {
		content, err := os.ReadFile(named)
		if err != nil {
			return nil, fmt.Errorf("reading the binary for %s: %w", architecture, err)
		}
		return content, nil
	}
	o.printf("building placement for %s/%s; the first build for a platform takes one to three minutes", system, architecture)
	directory, err := os.MkdirTemp("", "placement-release-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary directory: %w", err)
	}
	defer func() {
		if removed := os.RemoveAll(directory); err == nil && removed != nil {
			err = fmt.Errorf("removing a temporary directory: %w", removed)
		}
	}()
	path := filepath.Join(directory, "placement")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", fmt.Sprintf("-X main.version=%s -X main.commit=%s", o.version, o.commit), "-o", path, "./cmd/placement")
	build.Dir, build.Env = o.root, o.environment(system, architecture)
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building placement for %s/%s: %w\n%s", system, architecture, err, output)
	}
	if content, err = os.ReadFile(path); err != nil {
		return nil, fmt.Errorf("reading what was built: %w", err)
	}
	return content, nil
}

// environment is that of a reproducible build: nothing that changes the code comes from the settings of the user, and nothing is downloaded.
func (o *options) environment(system, architecture string) []string {
	fixed := []string{
		"GOOS=" + system, "GOARCH=" + architecture, "CGO_ENABLED=0", "GOFLAGS=-mod=vendor", "GOWORK=off", "GOPROXY=off",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GODEBUG=", "GOFIPS140=off",
	}
	return slices.Concat(os.Environ(), fixed)
}

// licenses returns the texts of licenses that come with the binary. It reads them once.
func (o *options) licenses(ctx context.Context) (files map[string][]byte, err error) {
	if o.texts != nil {
		return o.texts, nil
	}
	files = map[string][]byte{}
	for _, name := range licenseFiles {
		if files[name], err = os.ReadFile(filepath.Join(o.root, name)); err != nil {
			return nil, fmt.Errorf("reading a license: %w", err)
		}
	}
	directory, err := os.MkdirTemp("", "placement-release-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary directory: %w", err)
	}
	defer func() {
		if removed := os.RemoveAll(directory); err == nil && removed != nil {
			err = fmt.Errorf("removing a temporary directory: %w", removed)
		}
	}()
	texts := filepath.Join(directory, thirdPartyTexts)
	write := exec.CommandContext(ctx, "go", "run", "-trimpath", "-buildvcs=false", "./test/licenses", "-texts", texts)
	write.Dir, write.Env = o.root, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=vendor", "GOWORK=off")
	if output, err := write.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("collecting the licenses of modules: %w\n%s", err, output)
	}
	if files[thirdPartyTexts], err = os.ReadFile(texts); err != nil {
		return nil, fmt.Errorf("reading the licenses of modules: %w", err)
	}
	o.texts = files
	return files, nil
}
