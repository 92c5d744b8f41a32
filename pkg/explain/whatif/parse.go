// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"
	"strings"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// ofCluster splits "c7:region=eu" behind the name, which has no colon.
func ofCluster(text, form string) (cluster, rest string, err error) {
	cluster, rest, found := strings.Cut(text, ":")
	if !found || cluster == "" || rest == "" {
		return "", "", fmt.Errorf("is not of the form %s", form)
	}
	return cluster, rest, nil
}

// ParseLabel parses a label of a cluster, "c7:region=eu", or with "c7:region-" its removal. The error continues a sentence that begins with the text.
func ParseLabel(text string) (Change, error) {
	cluster, key, value, removes, err := parseAssignment(text, "c7:region=eu or c7:region-")
	if removes {
		return Unlabel{Cluster: cluster, Key: key}, err
	}
	return Label{Cluster: cluster, Key: key, Value: value}, err
}

// ParseClaim parses a claim of a cluster, "c7:version=1.30", or with "c7:version-" its removal; see ParseLabel.
func ParseClaim(text string) (Change, error) {
	cluster, name, value, removes, err := parseAssignment(text, "c7:version=1.30 or c7:version-")
	if removes {
		return Unclaim{Cluster: cluster, Name: name}, err
	}
	return Claim{Cluster: cluster, Name: name, Value: value}, err
}

func parseAssignment(text, form string) (cluster, key, value string, removes bool, err error) {
	cluster, rest, err := ofCluster(text, form)
	if err != nil {
		return "", "", "", false, err
	}
	key, value, assigns := strings.Cut(rest, "=")
	if !assigns {
		key, removes = strings.CutSuffix(rest, "-")
	}
	if key == "" || !assigns && !removes {
		return "", "", "", false, fmt.Errorf("is not of the form %s", form)
	}
	return cluster, key, value, removes, nil
}

// ParseTaint parses a taint of a cluster, "c7:gpu=a100:NoSelect" or "c7:gpu:NoSelect", or with "c7:gpu-" its removal; see ParseLabel.
func ParseTaint(text string) (Change, error) {
	const form = "c7:gpu=a100:NoSelect, c7:gpu:NoSelect or c7:gpu-"
	cluster, rest, err := ofCluster(text, form)
	if err != nil {
		return nil, err
	}
	rest, removes := strings.CutSuffix(rest, "-")
	assignment, effect := rest, ""
	if at := strings.LastIndex(rest, ":"); at >= 0 {
		assignment, effect = rest[:at], rest[at+1:]
	}
	key, value, _ := strings.Cut(assignment, "=")
	switch {
	case key == "", !removes && effect == "":
		return nil, fmt.Errorf("is not of the form %s", form)
	case removes:
		return Untaint{Cluster: cluster, Key: key, Effect: clusterv1.TaintEffect(effect)}, nil
	default:
		taint := clusterv1.Taint{Key: key, Value: value, Effect: clusterv1.TaintEffect(effect)}
		return Taint{Cluster: cluster, Taint: taint}, nil
	}
}
