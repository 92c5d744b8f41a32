// Package embedded is the hub that `placement run` starts for itself: a control plane with the CustomResourceDefinitions, RBAC and, when
// asked for, the sample world, in a directory of its own or in one that the user keeps.
//
// It promises: a directory that holds other things is refused, and so is a kubeconfig that it did not write or whose hub still runs; the
// objects of an earlier run stay as the user left them unless the samples are asked for again; the controllers get the rights of their
// ServiceAccount and no more; Close stops every process, and removes what the user did not name.
//
// It never runs a controller of the hub, never changes the user's own kubeconfig, and never overwrites what somebody else has written.
package embedded
