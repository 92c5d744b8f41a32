// Package integration runs the controllers, as the ServiceAccount of manifests/, against a real kube-apiserver and etcd.
package integration
