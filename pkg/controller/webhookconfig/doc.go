// Package webhookconfig keeps the webhook for ManagedClusters at work (managedcluster-defaults): it serves what package webhook answers, and
// keeps the certificates by which API servers trust it, in a Secret of the hub's namespace and in the webhook configurations.
//
// Promises: every replica serves, with the newest certificate of the Secret that can be read, while the leader alone writes. A bundle of
// authorities is written down before it is given out, and a certificate is used after its bundle has been. Where API servers find the
// webhook is theirs to say who install the configurations: the certificate has the host names that these name, and nothing but caBundle is
// written there. A configuration or Secret that was edited or deleted is mended; configurations that are missing are not made, and not
// an error. Nothing is written when nothing is due.
package webhookconfig
