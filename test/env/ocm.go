package env

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WorkBinary is the name of the binary with the work manager, work agent and ManifestWork webhook of OCM.
const WorkBinary = "work"

// OCMVariable is the environment variable with a directory of OCM programs.
const OCMVariable = "OCM_ASSETS"

// ErrNoOCM means that no directory with the OCM programs was found.
var ErrNoOCM = errors.New("no work manager of Open Cluster Management found: run `make assets-ocm` (it builds it from Go modules), " +
	"or set " + OCMVariable + " to a directory that has " + WorkBinary)

// OCMAssets are the paths of the OCM programs.
type OCMAssets struct {
	Work string

	Dir    string // the directory that holds them
	Source string // description of the place for messages
}

// FindOCM searches for the OCM programs in the directory in $OCM_ASSETS and in bin/ocm of the checkout. It returns ErrNoOCM with the
// reasons if neither has them.
func FindOCM() (OCMAssets, error) {
	var (
		places  []place
		skipped []string
	)
	if named := os.Getenv(OCMVariable); named != "" {
		absolute, err := filepath.Abs(named)
		if err != nil {
			return OCMAssets{}, fmt.Errorf("resolving %s: %w", OCMVariable, err)
		}
		places = append(places, place{name: "$" + OCMVariable, directory: absolute})
	}
	checkout, err := FindCheckout()
	switch {
	case errors.Is(err, ErrNoCheckout):
		skipped = append(skipped, err.Error())
	case err != nil:
		return OCMAssets{}, err
	default:
		built, reason, err := builtPlace(checkout, OCM)
		if err != nil {
			return OCMAssets{}, err
		}
		if reason != "" {
			skipped = append(skipped, reason)
		}
		places = append(places, built...)
	}
	for _, place := range places {
		if hasBinary(place.directory, WorkBinary) {
			return OCMAssets{Work: filepath.Join(place.directory, WorkBinary), Dir: place.directory, Source: place.name}, nil
		}
		skipped = append(skipped, fmt.Sprintf("%s: no %s in %s", place.name, WorkBinary, place.directory))
	}
	return OCMAssets{}, fmt.Errorf("%w (%s)", ErrNoOCM, strings.Join(skipped, "; "))
}
