// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// versionClaim is the claim with the version of Kubernetes.
const versionClaim = "kubeversion.open-cluster-management.io"

// Claims returns the claims of the ManagedCluster of a Cluster, by their names. The profile is nil if it is not published.
func Claims(cluster *openmcpv1alpha1.Cluster, profile *openmcpv1alpha1.Profile) map[string]string {
	claims := map[string]string{
		openmcpv1alpha1.ProviderClaim: cluster.Spec.ClusterProviderRef.Name,
		openmcpv1alpha1.ProfileClaim:  string(cluster.Spec.ClusterProviderRef.Profile),
		openmcpv1alpha1.TenancyClaim:  string(cluster.Spec.Tenancy),
	}
	for _, purpose := range cluster.Spec.Purposes {
		claims[openmcpv1alpha1.PurposeKeyPrefix+string(purpose)] = set
	}
	if profile != nil {
		for i := range profile.SupportedTraits {
			claims[openmcpv1alpha1.TraitKeyPrefix+profile.SupportedTraits[i].TraitName()] = set
		}
	}
	if version := versionOf(cluster.Spec.Kubernetes); version != "" {
		claims[versionClaim] = "v" + version
	}

	return claims
}

// MergedClaims are the claims of a ManagedCluster with those that the hub wants, and the values of ClaimsAnnotation that are written before
// and after the claims. The API server takes the annotation and the claims in two requests: the first value has what the hub wrote and what
// it is about to write, so that a hub that is killed in between knows its claims. The second has what it wrote.
type MergedClaims struct {
	Claims        []clusterv1.ManagedClusterClaim
	Before, After string
}

// MergeClaims adds the claims that the hub wants to those that are present. A claim that is not recorded in ClaimsAnnotation with its value is
// that of an agent: it wins, and stays. MergeClaims returns an error if the annotation cannot be read.
func MergeClaims(present []clusterv1.ManagedClusterClaim, annotation string, wanted map[string]string) (MergedClaims, error) {
	var written []clusterv1.ManagedClusterClaim
	if annotation != "" {
		if err := json.Unmarshal([]byte(annotation), &written); err != nil {
			return MergedClaims{}, fmt.Errorf("annotation %s: %w: remove it, and the claims of removed purposes and traits",
				openmcpv1alpha1.ClaimsAnnotation, err)
		}
	}
	var merged, own []clusterv1.ManagedClusterClaim
	agents := map[string]bool{}
	for _, claim := range present {
		if !slices.Contains(written, claim) {
			merged = append(merged, claim)
			agents[claim.Name] = true
		}
	}
	for name, value := range wanted {
		if !agents[name] {
			own = append(own, clusterv1.ManagedClusterClaim{Name: name, Value: value})
		}
	}
	slices.SortFunc(own, compareClaims)
	merged = append(merged, own...)
	if slices.Equal(slices.SortedFunc(slices.Values(present), compareClaims), slices.SortedFunc(slices.Values(merged), compareClaims)) {
		merged = present // In the order of an agent that wrote them.
	}
	before, err := record(append(written, own...))
	if err != nil {
		return MergedClaims{}, err
	}
	after, err := record(own)

	return MergedClaims{Claims: merged, Before: before, After: after}, err
}

// record returns a value of ClaimsAnnotation.
func record(claims []clusterv1.ManagedClusterClaim) (string, error) {
	sorted := slices.Compact(slices.SortedFunc(slices.Values(claims), compareClaims))
	text, err := json.Marshal(sorted)
	if err != nil {
		return "", fmt.Errorf("encode the names of claims: %w", err)
	}
	return string(text), nil
}

func compareClaims(a, b clusterv1.ManagedClusterClaim) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
}
