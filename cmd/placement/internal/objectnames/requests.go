// SPDX-License-Identifier: Apache-2.0

package objectnames

import (
	"strings"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
)

// IsRequest reports whether a type names ClusterRequests as kubectl does.
func IsRequest(text string) bool {
	name, group, qualified := strings.Cut(strings.ToLower(text), ".")
	return (name == RequestType || name == RequestType+"s") &&
		(!qualified || group == "cluster.openmcp.cloud" || group == "v1alpha1.cluster.openmcp.cloud")
}

// RequestTypes returns the types of ClusterRequests.
func RequestTypes() []string { return []string{RequestType} }

// namedRequests are the ClusterRequests on the command line.
var namedRequests = hubflags.NamedKinds[struct{}]{
	Find: func(text string) (struct{}, string, bool) {
		return struct{}{}, "ClusterRequest", IsRequest(text)
	},
	Alone: "name ClusterRequests as clusterrequest/NAME, and nothing else in one command",
}

// RequestType is the type of ClusterRequests that is offered by completions.
const RequestType = "clusterrequest"

// ParseRequests parses names of ClusterRequests as kubectl does, TYPE/NAME and TYPE NAME. The result is nil if the arguments name none.
func ParseRequests(args []string) ([]string, error) {
	parsed, err := namedRequests.Parse(args)
	if err != nil || parsed == nil {
		return nil, err
	}
	names := make([]string, 0, len(parsed))
	for _, named := range parsed {
		names = append(names, named.Name)
	}
	return names, nil
}
