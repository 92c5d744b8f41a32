// SPDX-License-Identifier: Apache-2.0

// Package planes lends control planes to tests one after the other, because the start of one takes more CPU time than many tests.
//
// Keep runs in a process of its own, which test/run starts before the first test that needs a server. Take gets a control plane from it, or
// starts one where no keeper runs, as with `go test` of one package. After a test the keeper restores in etcd what was there before: it
// deletes the objects that the test has left and puts back those that it has changed or deleted. The API server and the controllers see
// that as changes by others. A control plane whose objects do not come to rest is stopped.
//
// A test that stops or kills a program of its control plane, or that needs other flags or controllers, starts its own.
package planes
