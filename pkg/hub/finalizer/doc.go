// Package finalizer adds finalizers to objects and removes them.
//
// Promises: a change is refused with a conflict if the object has changed since it was read, so that no finalizer of others is lost or comes
// back; nothing is sent when nothing changes.
package finalizer
