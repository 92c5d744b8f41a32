// Package webhook has the responses and warnings that the admission handlers of the hub share. Each package below has the handlers of one system:
// clusterdefaults those of ManagedClusters, podscheduling those of pod scheduling policies, affinityclass those of AffinityClasses, federation
// those of federated objects, clusterrequest those of AccessRequests; certificates has the certificates that they are served with.
//
// The packages are below pkg/controller, whose webhookconfig serves the handlers.
package webhook
