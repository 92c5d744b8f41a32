// Package fakeapi has what the unit tests of reconcilers add to the fake client of controller-runtime: they see its writes in their order, and
// new objects get UIDs, as an API server gives them.
package fakeapi
