// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// The names of the control plane binaries.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubectl           = "kubectl"
)

// AssetsVariable is the environment variable with a directory of control plane binaries, as in envtest of controller-runtime.
const AssetsVariable = "KUBEBUILDER_ASSETS"

// ErrNoAssets means that no directory with the binaries of a control plane was found.
var ErrNoAssets = errors.New("no etcd and kube-apiserver found: run `make assets` (it builds them from Go modules), " +
	"or set " + AssetsVariable + " to a directory that has them")

// Assets are the paths of the control plane binaries.
type Assets struct {
	Etcd      string
	APIServer string
	// ControllerManager, Scheduler and Kubectl are empty if they were not found.
	ControllerManager string
	Scheduler         string
	Kubectl           string

	Dir     string   // the directory that holds etcd and kube-apiserver
	Source  string   // description of the place for messages
	Skipped []string // descriptions of the places before it, with the reasons
}

// Find searches for control plane binaries, in this order: the directory in $KUBEBUILDER_ASSETS, bin/controlplane of the checkout, whose versions
// are pinned, and outside of a checkout the directory controlplane beside the running program. A directory counts if it has etcd and
// kube-apiserver; the other binaries come from the first of the remaining places that has them. It returns ErrNoAssets with the reasons if no
// directory counts. Tests use it: their results must not depend on the store of setup-envtest.
func Find() (Assets, error) { return find(false) }

// FindStored is Find with the store of setup-envtest after $KUBEBUILDER_ASSETS, of which the newest usable version counts.
func FindStored() (Assets, error) { return find(true) }

func find(stored bool) (Assets, error) {
	places, skipped, err := assetPlaces(stored)
	if err != nil {
		return Assets{}, err
	}
	var found Assets
	for _, place := range places {
		switch {
		case found.Dir != "":
			if !place.store {
				found = found.complete(place.directory)
			}
		case !hasBinary(place.directory, Etcd) || !hasBinary(place.directory, APIServer):
			skipped = append(skipped, fmt.Sprintf("%s: no etcd and kube-apiserver in %s", place.name, place.directory))
		default:
			found = Assets{
				Etcd:      filepath.Join(place.directory, Etcd),
				APIServer: filepath.Join(place.directory, APIServer),
				Dir:       place.directory,
				Source:    place.name,
				Skipped:   skipped,
			}
			found = found.complete(place.directory)
		}
	}
	if found.Dir == "" {
		return Assets{}, fmt.Errorf("%w (%s)", ErrNoAssets, strings.Join(skipped, "; "))
	}
	return found, nil
}

// complete adds the optional binaries of a directory that are still missing.
func (a Assets) complete(directory string) Assets {
	for _, binary := range []struct {
		name string
		path *string
	}{{ControllerManager, &a.ControllerManager}, {Scheduler, &a.Scheduler}, {Kubectl, &a.Kubectl}} {
		if *binary.path == "" && hasBinary(directory, binary.name) {
			*binary.path = filepath.Join(directory, binary.name)
		}
	}
	return a
}

// Missing returns the names of the binaries that were not found. It omits kube-scheduler, which few tests need, unless scheduler is true.
func (a Assets) Missing(scheduler bool) []string {
	var missing []string
	for _, binary := range []struct{ name, path string }{
		{Etcd, a.Etcd},
		{APIServer, a.APIServer},
		{ControllerManager, a.ControllerManager},
		{Scheduler, a.Scheduler},
		{Kubectl, a.Kubectl},
	} {
		if binary.path == "" && (scheduler || binary.name != Scheduler) {
			missing = append(missing, binary.name)
		}
	}
	return missing
}

// place is a directory that may have binaries.
type place struct {
	name      string
	directory string
	store     bool // a version in the store of setup-envtest
}

// assetPlaces returns the directories to search, best first, and the reasons why others are skipped.
func assetPlaces(stored bool) (places []place, skipped []string, err error) {
	places, err = variablePlace(AssetsVariable, os.Getenv(AssetsVariable))
	if err != nil {
		return nil, nil, err
	}
	if places == nil {
		skipped = append(skipped, "$"+AssetsVariable+" is not set")
	}

	if stored {
		versions, reason, err := storeVersions()
		if err != nil {
			return nil, nil, err
		}
		if reason != "" {
			skipped = append(skipped, reason)
		}
		places = append(places, versions...)
	}

	built, reason, err := buildPlace()
	if err != nil {
		return nil, nil, err
	}
	if reason != "" {
		skipped = append(skipped, reason)
	}
	return append(places, built...), skipped, nil
}

// variablePlace returns the directory that is the value of an environment variable; nil if the value is empty.
func variablePlace(variable, directory string) ([]place, error) {
	if directory == "" {
		return nil, nil
	}
	absolute, err := filepath.Abs(directory)
	if err != nil {
		return nil, fmt.Errorf("resolving %s: %w", variable, err)
	}
	return []place{{name: "$" + variable, directory: absolute}}, nil
}

// buildPlace returns the build directory of the checkout. Outside of a checkout it returns the directory beside the running program, where
// there are no pinned versions to compare with.
func buildPlace() ([]place, string, error) {
	checkout, err := FindCheckout()
	if errors.Is(err, ErrNoCheckout) {
		program, err := os.Executable()
		if err != nil {
			return nil, "", fmt.Errorf("finding the directory of this program: %w", err)
		}
		return []place{{name: "beside this program", directory: filepath.Join(filepath.Dir(program), "controlplane")}}, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return builtPlace(checkout, ControlPlane)
}

// builtPlace returns the build directory of the programs, or the reason why it does not count.
func builtPlace(checkout Checkout, programs Programs) ([]place, string, error) {
	directory := checkout.BuildDir(programs)
	if _, err := os.Stat(directory); errors.Is(err, fs.ErrNotExist) {
		return nil, "nothing is built in " + directory, nil
	}
	current, err := checkout.BuildIsCurrent(programs)
	if err != nil {
		return nil, "", err
	}
	if !current {
		return nil, directory + " holds other versions than the pinned ones", nil
	}
	return []place{{name: "built in this checkout", directory: directory}}, "", nil
}

// hasBinary reports whether the directory has an executable file of that name.
func hasBinary(directory, name string) bool {
	info, err := os.Stat(filepath.Join(directory, name))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0
}

// FindProgram searches for a binary of the programs in named, the value of an environment variable, and in the build directory of the
// checkout. It returns the directory and a description of the place. The directory is empty, with the reasons, if neither has the binary.
func FindProgram(programs Programs, binary, variable, named string) (directory, source string, skipped []string, err error) {
	places, err := variablePlace(variable, named)
	if err != nil {
		return "", "", nil, err
	}
	checkout, err := FindCheckout()
	switch {
	case errors.Is(err, ErrNoCheckout):
		skipped = append(skipped, err.Error())
	case err != nil:
		return "", "", nil, err
	default:
		built, reason, err := builtPlace(checkout, programs)
		if err != nil {
			return "", "", nil, err
		}
		if reason != "" {
			skipped = append(skipped, reason)
		}
		places = append(places, built...)
	}
	for _, place := range places {
		if hasBinary(place.directory, binary) {
			return place.directory, place.name, nil, nil
		}
		skipped = append(skipped, fmt.Sprintf("%s: no %s in %s", place.name, binary, place.directory))
	}
	return "", "", skipped, nil
}
