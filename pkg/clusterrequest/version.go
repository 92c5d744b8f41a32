// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// wholeSegments is the number of segments of a whole version.
const wholeSegments = 3

// versionOf returns a version; "" if there is none.
func versionOf(kubernetes *openmcpv1alpha1.Kubernetes) string {
	if kubernetes == nil {
		return ""
	}
	return kubernetes.Version
}

// isWhole reports whether a version has all of its segments.
func isWhole(wanted string) bool { return strings.Count(wanted, ".") >= wholeSegments-1 }

// versionMatches reports whether a whole version is the wanted one, or has its segments first. Everything matches "".
func versionMatches(wanted, whole string) bool {
	switch {
	case wanted == "":
		return true
	case isWhole(wanted):
		return wanted == whole
	default:
		return strings.HasPrefix(whole, wanted+".")
	}
}

// chooseVersion returns the version of a new Cluster: the highest that matches and is not deprecated. A deprecated version has to be wanted
// as a whole. It returns nil if no version matches.
func chooseVersion(wanted string, supported []openmcpv1alpha1.SupportedVersion) *openmcpv1alpha1.SupportedVersion {
	var best *openmcpv1alpha1.SupportedVersion
	for i := range supported {
		candidate := &supported[i]
		if !versionMatches(wanted, candidate.Version) || candidate.Deprecated && !isWhole(wanted) {
			continue
		}
		if best == nil || isHigher(candidate.Version, best.Version) {
			best = candidate
		}
	}
	return best
}

// isHigher compares versions by the rules of semantic versioning. Versions that are equal by these rules are compared as texts.
func isHigher(a, b string) bool {
	x, errX := version.ParseSemantic(a)
	y, errY := version.ParseSemantic(b)
	if errX != nil || errY != nil {
		return errY != nil && (errX == nil || a > b)
	}
	if x.LessThan(y) || y.LessThan(x) {
		return y.LessThan(x)
	}
	return a > b
}
