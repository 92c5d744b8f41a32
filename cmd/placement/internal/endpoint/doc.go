// SPDX-License-Identifier: Apache-2.0

// Package endpoint is the HTTPS port of `placement controller` and `placement debug`: metrics, the probes of the kubelet, and mounted
// handlers.
//
// It promises: probes are served to everybody, any other path only to callers that the hub's API server authenticates (TokenReview) and
// authorizes (SubjectAccessReview), except for metrics that the configuration opens; the given certificate is reloaded when its files
// change, and without one a self-signed certificate is made and renewed; leader and standby serve alike.
//
// It never keeps credentials of callers, and never decides itself who may read what.
//
// It is not the metrics server of controller-runtime: that wraps every extra handler in the one filter, so that the kubelet's probes would be
// authorized too; it never renews its self-signed certificate, which is valid for a year; and its interface does not return the port
// that it chose for an address with port 0.
package endpoint
