// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The API server has no reasons for these answers, and their texts are those of its packages apiextensions and structured-merge-diff.
var (
	goneVersion     = regexp.MustCompile(`request to convert CR to an invalid group/version: (\S+)`)
	undeclaredField = "field not declared in schema"
)

// isInternal reports whether an error is an answer of the API server that it could not carry out a request, whose text contains another one.
func isInternal(err error, text string) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError && strings.Contains(status.Status().Message, text)
}

// versionGone returns the version, as group/version, in the managedFields of an object that keeps the API server from applying; false if an error
// has another cause.
func versionGone(err error) (string, bool) {
	if !isInternal(err, "") {
		return "", false
	}
	if found := goneVersion.FindStringSubmatch(err.Error()); found != nil {
		return found[1], true
	}
	return "", false
}

// isUndeclared reports whether the schema of a kind lacks a field that was applied.
func isUndeclared(err error) bool { return isInternal(err, undeclaredField) }

// OlderDefinitionError is the error of an apply that has fields which the CustomResourceDefinition lacks, and which means something else without
// them.
type OlderDefinitionError struct {
	// Definition is the name of the CustomResourceDefinition.
	Definition string
	// Fields are the paths of the fields, sorted.
	Fields []string
}

// Error names the definition, the fields and the cure.
func (e *OlderDefinitionError) Error() string {
	return fmt.Sprintf("CustomResourceDefinition %s is older than this process and lacks %s: apply the definition of the same version",
		e.Definition, strings.Join(e.Fields, ", "))
}
