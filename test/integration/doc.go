// Package integration runs the controllers, as the ServiceAccount of manifests/, against a real kube-apiserver and etcd. Its specs strike
// with one fault at a time; package attack below it strikes with many at random.
package integration
