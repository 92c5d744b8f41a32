package samples

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var files embed.FS

//go:embed pods/*.yaml
var pods embed.FS

//go:embed federation/*.yaml
var federated embed.FS

//go:embed clusters/*.yaml
var clusters embed.FS

// Files returns the YAML files of the sample world, all in the root directory. Their lexical order, which is that of
// fs.ReadDir, is the order to apply them in.
func Files() fs.FS { return files }

// Pods returns the YAML files of the sample of Pods, all in the directory pods. Their lexical order is the order to apply them in, but a
// file needs what the hub makes of those before it: see doc.go.
func Pods() fs.FS { return pods }

// The files of Pods by what has to happen before each, as patterns of fs.Glob.
const (
	PodsDefinitions  = "pods/00-definitions.yaml"
	PodsNodes        = "pods/10-nodes.yaml"
	PodsPlatform     = "pods/[23]*.yaml"
	PodsApplications = "pods/40-applications.yaml"
	PodsWorkloads    = "pods/50-workloads.yaml"
	PodsRefused      = "pods/60-refused.yaml"
)

// Federation returns the YAML files of the sample of federated objects, all in the directory federation. Their lexical order is the order to
// apply them in.
func Federation() fs.FS { return federated }

// The files of Federation.
const (
	FederationClusters  = "federation/10-clusters.yaml"
	FederationNamespace = "federation/20-namespace.yaml"
	FederationObjects   = "federation/30-objects.yaml"
)

// Clusters returns the YAML files of the sample of ClusterRequests, all in the directory clusters. Their lexical order is the order to apply
// them in, but the providers need to publish their profiles before the requests come, and each request is to be decided before the next one.
func Clusters() fs.FS { return clusters }

// The files of Clusters.
const (
	ClustersPlatform = "clusters/10-platform.yaml"
	ClustersRequests = "clusters/20-requests.yaml"
	ClustersUse      = "clusters/30-use.yaml"
)
