// SPDX-License-Identifier: Apache-2.0

// Package webhookserver serves the webhooks of the enabled controllers, and keeps the certificates that API servers trust in a Secret in
// the namespace of the hub and in the webhook configurations.
//
// Promises: every replica serves, with the newest readable certificate of the Secret; only the leader writes. A bundle of certificate
// authorities is stored before it is published, and a certificate is used after its bundle was published. The owner of the configurations
// decides how API servers reach a webhook and for what they call it: the certificate has the host names in the configurations, and only
// caBundle, and failurePolicy where a webhook asks for one, are written there. A configuration or Secret that was edited or deleted is
// repaired; missing configurations are neither created nor an error. Nothing is written when nothing is due.
package webhookserver
