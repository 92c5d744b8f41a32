// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
)

// semverHint is the rewrite for versions that semver() does not read, or reads as pre-releases: v1.33.1, v1.33.1-gke.1106000, v1.33.1-eks-5d632e1.
const semverHint = `; semver() reads no leading "v", and what follows "-" counts as a pre-release: semver(VERSION.split("-")[0].replace("v", ""))`

// evaluationHint returns how to rewrite an expression whose evaluation has failed; empty if nothing is known.
func evaluationHint(source string, err error) string {
	text := err.Error()
	isVersion := strings.Contains(text, "Invalid character(s) found in") || strings.Contains(text, "No Major.Minor.Patch elements found")
	if isVersion && strings.Contains(source, "semver(") {
		return semverHint
	}
	return ""
}

// noOverload matches the error of a call with arguments that no function of that name has. A member call has the type of its target before the dot.
var noOverload = regexp.MustCompile(`^found no matching overload for '(\w+)' applied to '.*?(\.?)\(.*\)'$`)

// compileHint returns the other form of a call that failed to compile, if the function has only that: sign(x) for x.sign(), and x.isInteger() for
// isInteger(x). It is empty for other errors.
func compileHint(env *cel.Env, message string) string {
	found := noOverload.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	name, isMember := found[1], found[2] != ""
	function, known := env.Functions()[name]
	if !known || slices.ContainsFunc(function.OverloadDecls(), func(o *decls.OverloadDecl) bool { return o.IsMemberFunction() == isMember }) {
		return ""
	}
	if isMember {
		return "; write " + name + "(x) instead of x." + name + "()"
	}
	return "; write x." + name + "() instead of " + name + "(x)"
}
