package env

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
	EtcdBinary              = "etcd"
	APIServerBinary         = "kube-apiserver"
	ControllerManagerBinary = "kube-controller-manager"
	KubectlBinary           = "kubectl"
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
	// ControllerManager and Kubectl are empty if they were not found.
	ControllerManager string
	Kubectl           string

	Dir     string   // the directory that holds etcd and kube-apiserver
	Source  string   // description of the place for messages
	Skipped []string // descriptions of the places before it, with the reasons
}

// FindAssets searches for control plane binaries, in this order: the directory in $KUBEBUILDER_ASSETS, the newest usable version in the
// store of setup-envtest, bin/controlplane of the checkout, and the directory controlplane beside the running program. A directory counts
// if it has etcd and kube-apiserver; the other two binaries come from the first of the remaining places that has them, except other
// versions of the store. It returns ErrNoAssets with the reasons if no directory counts.
func FindAssets() (Assets, error) {
	places, skipped, err := assetPlaces()
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
		case !hasBinary(place.directory, EtcdBinary) || !hasBinary(place.directory, APIServerBinary):
			skipped = append(skipped, fmt.Sprintf("%s: no etcd and kube-apiserver in %s", place.name, place.directory))
		default:
			found = Assets{
				Etcd:      filepath.Join(place.directory, EtcdBinary),
				APIServer: filepath.Join(place.directory, APIServerBinary),
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
	if a.ControllerManager == "" && hasBinary(directory, ControllerManagerBinary) {
		a.ControllerManager = filepath.Join(directory, ControllerManagerBinary)
	}
	if a.Kubectl == "" && hasBinary(directory, KubectlBinary) {
		a.Kubectl = filepath.Join(directory, KubectlBinary)
	}
	return a
}

// Missing returns the names of the binaries that were not found.
func (a Assets) Missing() []string {
	var missing []string
	for _, binary := range []struct{ name, path string }{
		{EtcdBinary, a.Etcd},
		{APIServerBinary, a.APIServer},
		{ControllerManagerBinary, a.ControllerManager},
		{KubectlBinary, a.Kubectl},
	} {
		if binary.path == "" {
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
func assetPlaces() (places []place, skipped []string, err error) {
	if directory := os.Getenv(AssetsVariable); directory != "" {
		absolute, err := filepath.Abs(directory)
		if err != nil {
			return nil, nil, fmt.Errorf("resolving %s: %w", AssetsVariable, err)
		}
		places = append(places, place{name: "$" + AssetsVariable, directory: absolute})
	} else {
		skipped = append(skipped, "$"+AssetsVariable+" is not set")
	}

	versions, reason, err := storeVersions()
	if err != nil {
		return nil, nil, err
	}
	if reason != "" {
		skipped = append(skipped, reason)
	}
	places = append(places, versions...)

	built, reason, err := buildPlace()
	if err != nil {
		return nil, nil, err
	}
	if reason != "" {
		skipped = append(skipped, reason)
	}
	return append(places, built...), skipped, nil
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
