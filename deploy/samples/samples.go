// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var files embed.FS

//go:embed */*.yaml
var others embed.FS

// Files returns the YAML files of the sample world, all in the root directory. Their lexical order, which is that of
// fs.ReadDir, is the order to apply them in.
func Files() fs.FS { return files }

// Others returns the YAML files of the other samples, each in a directory of its name. The lexical order of the files of a sample is the order to
// apply them in, but a file may need what the hub makes of those before it: see doc.go.
func Others() fs.FS { return others }

// The files of the sample of Pods by what has to happen before each, as patterns of fs.Glob.
const (
	PodsDefinitions  = "pods/00-definitions.yaml"
	PodsNodes        = "pods/10-nodes.yaml"
	PodsPlatform     = "pods/[23]*.yaml"
	PodsApplications = "pods/40-applications.yaml"
	PodsWorkloads    = "pods/50-workloads.yaml"
	PodsRefused      = "pods/60-refused.yaml"
)

// The files of the sample of federated objects.
const (
	FederationClusters  = "federation/10-clusters.yaml"
	FederationNamespace = "federation/20-namespace.yaml"
	FederationObjects   = "federation/30-objects.yaml"
)

// The files of the sample of a hub of hubs: those for the hub of hubs, and those for each hub below it.
const (
	HubsAbove      = "hubs/10-hub-of-hubs.yaml"
	HubsBelow      = "hubs/20-hub.yaml"
	HubsEurope     = "hubs/30-clusters-eu.yaml"
	HubsUSA        = "hubs/31-clusters-us.yaml"
	HubsPlacements = "hubs/40-placements.yaml"
)

// The files of the sample of ClusterRequests. The providers need to publish their profiles before the requests come, and each request is to be
// decided before the next one.
const (
	ClustersPlatform = "clusters/10-platform.yaml"
	ClustersRequests = "clusters/20-requests.yaml"
	ClustersUse      = "clusters/30-use.yaml"
)
