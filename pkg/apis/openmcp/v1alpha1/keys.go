// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Finalizers.
const (
	// RequestFinalizer keeps a ClusterRequest until its Cluster is released.
	RequestFinalizer = GroupName + "/request"
	// RequestFinalizerPrefix precedes the UID of a ClusterRequest in a finalizer of the Cluster that the request was granted.
	RequestFinalizerPrefix = "request." + GroupName + "/"
	// ProviderFinalizer keeps a Cluster until its provider has torn down the real cluster.
	ProviderFinalizer = GroupName + "/provider"
	// InventoryFinalizer keeps a Cluster until its ManagedCluster is drained.
	InventoryFinalizer = GroupName + "/inventory"
	// AccessFinalizer keeps an AccessRequest until its provider has removed what it made on the target cluster.
	AccessFinalizer = GroupName + "/access"
)

// Annotations.
const (
	// OperationAnnotation with the value OperationIgnore stops all work on a ClusterRequest.
	OperationAnnotation = GroupName + "/operation"
	// OperationIgnore is the value of OperationAnnotation that stops all work.
	OperationIgnore = "ignore"
	// PrefixesAnnotation of a Cluster is a JSON object with the prefix of each ClusterRequest, by the UID of the request.
	PrefixesAnnotation = GroupName + "/prefixes"
	// ClusterSetAnnotation of a Cluster names the ManagedClusterSet that its ManagedCluster joins.
	ClusterSetAnnotation = GroupName + "/clusterset"
	// ClusterAnnotation of a ManagedCluster, its namespace and an object on a target cluster is the <namespace>/<name> of their Cluster.
	ClusterAnnotation = GroupName + "/cluster"
	// AccountAnnotation of the Secret of an AccessRequest is the UID of the ServiceAccount on the cluster that its token is for.
	AccountAnnotation = GroupName + "/account"
	// AccessRequestAnnotation of an object on a target cluster is the <namespace>/<name> of the AccessRequest that it was made for.
	AccessRequestAnnotation = GroupName + "/access-request"
	// AccessRequestUIDAnnotation of an object on a target cluster is the UID of the AccessRequest that it was made for.
	AccessRequestUIDAnnotation = GroupName + "/access-request-uid"
	// ClaimsAnnotation of a ManagedCluster is a JSON list of the claims that the hub wrote.
	ClaimsAnnotation = GroupName + "/claims"
	// LabelsAnnotation of a ManagedCluster has the names of the labels that the hub wrote, separated by commas.
	LabelsAnnotation = GroupName + "/labels"
	// DefinitionAnnotation of a ManagedCluster is the UID that the CustomResourceDefinition of Clusters had when its Cluster was last seen.
	DefinitionAnnotation = GroupName + "/definition"
	// WithdrawAnnotation of a ManagedCluster with the value "true" withdraws it although its Cluster was lost with its CustomResourceDefinition.
	WithdrawAnnotation = GroupName + "/withdraw"
)

// Labels and the taint.
const (
	// DeleteWithoutRequestsLabel of a Cluster is "true" if the Cluster is deleted with the last ClusterRequest.
	DeleteWithoutRequestsLabel = GroupName + "/delete-without-requests"
	// RandomizeNameLabel of a ClusterRequest is "true" if the UID of the request is a part of the name of its new Cluster.
	RandomizeNameLabel = GroupName + "/randomize-cluster-name"
	// ProviderLabel of an AccessRequest is the name of the ClusterProvider.
	ProviderLabel = GroupName + "/provider"
	// ProfileLabel of an AccessRequest is the name of the profile.
	ProfileLabel = GroupName + "/profile"
	// ClusterLabel of a ManagedCluster and its namespace is the hash of the <namespace>/<name> of their Cluster.
	ClusterLabel = GroupName + "/cluster"
	// AccessIDLabel of an object on a target cluster identifies the AccessRequest among those of all hubs and providers.
	AccessIDLabel = GroupName + "/access-id"
	// AccessRequestNameLabel and AccessRequestNamespaceLabel of an object on a target cluster name the AccessRequest that it was made for.
	AccessRequestNameLabel      = GroupName + "/access-request-name"
	AccessRequestNamespaceLabel = GroupName + "/access-request-namespace"
	// PlacementLabelPrefix precedes the labels of a Cluster that its ManagedCluster gets, without the prefix.
	PlacementLabelPrefix = "placement.open-cluster-management.io/"
	// PurposeKeyPrefix precedes the name of a purpose in labels and claims of a ManagedCluster.
	PurposeKeyPrefix = "purpose." + GroupName + "/"
	// TraitKeyPrefix precedes the name of a trait in claims of a ManagedCluster.
	TraitKeyPrefix = "trait." + GroupName + "/"
	// TerminatingTaint is the key of the taint of a ManagedCluster whose Cluster is being deleted.
	TerminatingTaint = GroupName + "/terminating"
)

// The claims of a ManagedCluster that say where its Cluster comes from.
const (
	ProviderClaim = "provider." + GroupName
	ProfileClaim  = "profile." + GroupName
	TenancyClaim  = "tenancy." + GroupName
)
