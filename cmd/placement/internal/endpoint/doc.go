// Package endpoint is the HTTPS port of `placement controller` and `placement debug`: metrics, the probes of the kubelet, and what is
// mounted beside them.
//
// It promises: a probe answers everybody, and anything else only those whom the hub's API server knows (TokenReview) and allows the
// path (SubjectAccessReview), but for metrics that the configuration opens; the given certificate is reloaded when its files change, and without
// one a self-signed certificate is made and renewed; leader and standby serve alike.
//
// It never keeps credentials of callers, and never decides itself who may read what.
package endpoint
