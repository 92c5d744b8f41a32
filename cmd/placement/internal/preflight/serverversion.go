// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"

	"k8s.io/apimachinery/pkg/util/version"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/klog/v2"
)

// newestTested is the newest minor version of Kubernetes that the hub is tested with; docs/compatibility.md has the range.
var newestTested = version.MustParseGeneric("1.37")

// lacking has what API servers before a version lack, and what that means for the hub; docs/compatibility.md has the same table.
var lacking = []struct {
	before *version.Version
	what   string
}{
	{version.MustParseGeneric("1.33"), "comprehensions with two variables in CEL: manifests/admission/limits.yaml is refused, and no version " +
		"before 1.33 is tested"},
	{version.MustParseGeneric("1.34"), "streaming lists by default: caches are filled by lists, which take more memory of the API server"},
}

// lacks returns what an API server of a version lacks.
func lacks(server *version.Version) []string {
	var all []string
	for _, lack := range lacking {
		if server.LessThan(lack.before) {
			all = append(all, lack.what)
		}
	}
	return all
}

// logVersion logs what the version of the API server lacks, and a version that is newer than those that are tested.
func logVersion(ctx context.Context, info *apiversion.Info) {
	if info == nil {
		return // This process may not read the version of the server.
	}
	log := klog.FromContext(ctx)
	server, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		log.V(2).Info("The API server has a version that cannot be read", "version", info.GitVersion, "err", err)
		return
	}
	if missing := lacks(server); len(missing) > 0 {
		log.Info("The API server lacks what newer versions have", "version", info.GitVersion, "lacks", missing)
	}
	if server.WithPatch(0).GreaterThan(newestTested) {
		log.Info("The API server is newer than those that this version was tested with", "version", info.GitVersion, "newest", newestTested.String())
	}
}
