// SPDX-License-Identifier: Apache-2.0

// Package federationwebhook holds the specs of what a real API server does with federated objects at admission: the warnings of the webhook,
// and the policies of manifests/federation.
package federationwebhook
