// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// The limits of proposed prefixes.
const (
	minPrefixLength     = 3
	maxPrefixLength     = 20
	derivedPrefixLength = 8 // without the dash
)

var prefixPattern = regexp.MustCompile(`^[a-z][a-z0-9-]*-$`)

// CheckPrefix returns why a proposed prefix cannot be given out, whatever other prefixes there are; "" if it can.
func CheckPrefix(prefix string) string {
	switch {
	case len(prefix) < minPrefixLength:
		return fmt.Sprintf("%q is too short: a prefix has %d to %d characters", prefix, minPrefixLength, maxPrefixLength)
	case len(prefix) > maxPrefixLength:
		return fmt.Sprintf("%q is too long: a prefix has %d to %d characters", prefix, minPrefixLength, maxPrefixLength)
	case !prefixPattern.MatchString(prefix):
		return fmt.Sprintf("%q has another form than foo-: a letter, then letters, digits and dashes, in lower case, with a dash at the end",
			prefix)
	default:
		return ""
	}
}

// RefusedPrefix returns why a Grant has another prefix than its request proposes, for the message of the request; "" if it has the proposal, or
// there is none. It depends on what never changes, so that it is the same at each decision.
func RefusedPrefix(request *openmcpv1alpha1.ClusterRequest, grant *openmcpv1alpha1.ClusterRequestGrant) string {
	proposal, given := request.Spec.Prefix, grant.Spec.Prefix
	if proposal == "" || proposal == given {
		return ""
	}
	if given == "" {
		return fmt.Sprintf("without prefix %q of spec.prefix: the Cluster has no other request", proposal)
	}
	why := CheckPrefix(proposal)
	if why == "" {
		why = "another request on that Cluster had a prefix that is equal, or that is the beginning of this one or begins with it"
	}

	return fmt.Sprintf("not with prefix %q of spec.prefix but with %q: %s", proposal, given, why)
}

// choosePrefix returns the proposal if it is valid and free, and else a prefix that follows from the UID of the request alone. It does not
// begin with a used prefix, and no used one begins with it. The used prefixes have to be valid, which each excludes one derived prefix at
// most, so that the loop ends.
func choosePrefix(proposal string, request types.UID, used map[types.UID]string) string {
	if CheckPrefix(proposal) == "" && isFree(proposal, used) {
		return proposal
	}
	for counter := 0; ; counter++ {
		if derived := derivePrefix(request, counter); isFree(derived, used) {
			return derived
		}
	}
}

// derivePrefix returns a letter, seven letters or digits, and a dash.
func derivePrefix(request types.UID, counter int) string {
	text := hash(string(request)+"/"+strconv.Itoa(counter), derivedPrefixLength+1)
	letter := text[derivedPrefixLength]
	if letter < 'a' {
		letter += 'a' - '2' // The digits 2 to 7 become a to f.
	}
	return string(letter) + text[:derivedPrefixLength-1] + "-"
}

func isFree(prefix string, used map[types.UID]string) bool {
	for _, other := range used {
		if strings.HasPrefix(prefix, other) || strings.HasPrefix(other, prefix) {
			return false
		}
	}
	return true
}

// prefixes returns the prefixes of the requests of a Cluster. An annotation that is no JSON object, and an entry that the hub cannot have
// written, count as lost.
func prefixes(cluster *openmcpv1alpha1.Cluster) map[types.UID]string {
	entries := map[types.UID]string{}
	if err := json.Unmarshal([]byte(cluster.Annotations[openmcpv1alpha1.PrefixesAnnotation]), &entries); err != nil || entries == nil {
		return map[types.UID]string{}
	}
	maps.DeleteFunc(entries, func(_ types.UID, prefix string) bool { return CheckPrefix(prefix) != "" })
	return entries
}

// setPrefixes writes the annotation of a Cluster, which must be a copy, and removes it with its last entry.
func setPrefixes(cluster *openmcpv1alpha1.Cluster, entries map[types.UID]string) {
	if len(entries) == 0 {
		delete(cluster.Annotations, openmcpv1alpha1.PrefixesAnnotation)
		return
	}
	text, err := json.Marshal(entries) // Sorts the keys.
	if err != nil {
		panic(fmt.Errorf("encode a map of strings: %w", err)) // Cannot happen: every string can be encoded.
	}
	if cluster.Annotations == nil {
		cluster.Annotations = map[string]string{}
	}
	cluster.Annotations[openmcpv1alpha1.PrefixesAnnotation] = string(text)
}
