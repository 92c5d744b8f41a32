// SPDX-License-Identifier: Apache-2.0

// Package controller keeps what follows from AffinityClasses, Tenants and applications: docs/spec/affinity-class.md. Its controllers are
//
//   - affinityclass/classes: the finalizer and the status of AffinityClasses;
//   - affinityclass/tenants: the workload namespace, the Secret cozystack-values and the conditions of Tenants;
//   - affinityclass/applications: the class in the HelmRelease of each application;
//   - affinityclass/namespaces: the label of the namespaces whose Pods are verified.
//
// The rules are those of the pure package pkg/affinityclass. An application kind is any CustomResourceDefinition of the group apps.cozystack.io but
// Tenant; its informer starts when the definition is established, and stops when it is gone.
//
// Promises: a write that would change nothing is not sent, so a restart over a settled hub writes nothing. Every write has the
// resourceVersion that it was decided by as its precondition. A failed write is retried. What removes something (a finalizer, a label of a
// namespace) is decided with every application kind in the cache, and once more with what the API server has. An application that is
// refused keeps the HelmRelease that it has.
package controller
